// @ts-check
/**
 * Whether a round may still get answers: promised ones, or as many as the round before had.
 * Runs: main world. Touches no page global.
 * @param {Round} round
 * @returns {boolean}
 */
function expectsMore(round) {
  return round.promised > 0 || round.reading || round.answers < round.hoped;
}
