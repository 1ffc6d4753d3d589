// @ts-check
/**
 * Keep what a listener threw, the first few of it.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Round} round
 * @param {string} message
 * @returns {void}
 */
function noteThrown(natives, round, message) {
  const { thrown } = round.listed;
  if (thrown.length < 5) appendTo(natives, thrown, natives.apply(natives.sliceString, message, [0, 200]));
}
