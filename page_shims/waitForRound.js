// @ts-check
/**
 * Wait until a round has its answers, but no longer than that; then describe it. Registered tools are waited for
 * also where answers are not: reading them takes the browser about a millisecond.
 * Runs: main world.
 * @param {Natives} natives
 * @param {Round} round
 * @param {number} milliseconds
 * @returns {Promise<Discovery> | Discovery}
 */
function waitForRound(natives, round, milliseconds) {
  const waits = () => round.reading || (milliseconds > 0 && expectsMore(round));
  if (!waits()) return describeRound(round);
  return new natives.Promise(
    /** @param {(described: Discovery) => void} resolve */ (resolve) => {
      const end = () => {
        round.settled = null;
        resolve(describeRound(round));
      };
      round.settled = () => {
        if (!waits()) end();
      };
      natives.apply(natives.setTimeout, natives.window, [end, milliseconds > 0 ? milliseconds : 100]);
    },
  );
}
