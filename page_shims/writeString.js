// @ts-check
/**
 * Write a string of the page as JSON. One that reads like a marker, or like a string that was cut, gets a backslash.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {string} text
 * @returns {string}
 */
function writeString(natives, sheet, text) {
  return writeText(natives, sheet, text, sheet.bounds.stringChars, (said, whole) => {
    const marked = whole ? escapeCut(natives, said) : said;
    return quoteText(natives, isMarker(natives, marked) ? `\\${marked}` : marked);
  });
}
