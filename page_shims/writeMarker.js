// @ts-check
/**
 * Write a marker: a word, and what it is about.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {string} word
 * @param {string} content
 * @returns {string}
 */
function writeMarker(natives, sheet, word, content) {
  /** @param {string} said */
  const write = (said) => quoteText(natives, said === '' ? `[${word}]` : `[${word} ${said}]`);
  return writeText(natives, sheet, content, sheet.bounds.stringChars, write);
}
