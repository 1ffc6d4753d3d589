// @ts-check
/**
 * Count text that is written against the bound for all of it. The text may go over a little: who is about to write
 * more looks with `isFull` first.
 * Runs: main world. Touches no page global.
 * @param {Sheet} sheet
 * @param {string} text
 * @returns {string} the same text
 */
function spend(sheet, text) {
  sheet.room -= text.length;
  return text;
}
