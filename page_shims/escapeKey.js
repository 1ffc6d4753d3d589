// @ts-check
/**
 * How a key of the page is said: as it is, and with one more backslash where it could be taken for one of ours.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} key
 * @returns {string}
 */
function escapeKey(natives, key) {
  const said = escapeCut(natives, key);
  return isKeyMarker(natives, said) ? `\\${said}` : said;
}
