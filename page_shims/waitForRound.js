// @ts-check
/**
 * Wait until a round has its answers, but no longer than that; then describe it.
 * Runs: main world.
 * @param {Natives} natives
 * @param {Round} round
 * @param {number} milliseconds
 * @returns {Promise<Discovery> | Discovery}
 */
function waitForRound(natives, round, milliseconds) {
  if (!expectsMore(round)) return describeRound(round);
  return new natives.Promise(
    /** @param {(described: Discovery) => void} resolve */ (resolve) => {
      round.settled = () => {
        round.settled = null;
        resolve(describeRound(round));
      };
      natives.apply(natives.setTimeout, natives.window, [() => round.settled?.(), milliseconds]);
    },
  );
}
