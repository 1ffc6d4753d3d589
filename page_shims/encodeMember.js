// @ts-check
/**
 * Read a property and write it at its place.
 * Runs: main world. A getter runs; what it throws is written in the place of its value.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {any} owner
 * @param {PropertyKey} key
 * @param {Place} place
 * @returns {string}
 */
function encodeMember(natives, sheet, owner, key, place) {
  let value;
  try {
    value = owner[key];
  } catch (thrown) {
    return writeMarker(natives, sheet, 'threw', thrownWords(natives, thrown));
  }
  return encodeAny(natives, sheet, value, place);
}
