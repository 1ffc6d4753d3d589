// @ts-check
/**
 * The first characters of a text; none of them is cut in two.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @param {number} chars
 * @returns {string}
 */
function headOf(natives, text, chars) {
  const last = chars > 0 ? /** @type {string} */ (text[chars - 1]) : '';
  const half = last >= '\ud800' && last <= '\udbff';
  return natives.apply(natives.sliceString, text, [0, half ? chars - 1 : chars]);
}
