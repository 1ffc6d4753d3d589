// @ts-check
/**
 * A text as a JSON string. Half characters become U+FFFD, for nobody could pass them on.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @returns {string}
 */
function quoteText(natives, text) {
  return natives.stringify(natives.apply(natives.wellFormed, text, []));
}
