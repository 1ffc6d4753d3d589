// @ts-check
/**
 * What the bridge is told of a round, as of now.
 * Runs: main world. Touches no page global.
 * @param {Round} round
 * @returns {Discovery}
 */
function describeRound(round) {
  round.listed.more = expectsMore(round);
  return round.listed;
}
