// @ts-check
/**
 * Whether nothing more is to be begun.
 * Runs: main world. Touches no page global.
 * @param {Sheet} sheet
 * @returns {boolean}
 */
function isFull(sheet) {
  return sheet.room <= 0 || sheet.nodes <= 0;
}
