// @ts-check
/**
 * Write one value at its place.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {unknown} value
 * @param {Place} place
 * @returns {string}
 */
function encodeAny(natives, sheet, value, place) {
  sheet.nodes--;
  if (value === null) return spend(sheet, 'null');
  switch (typeof value) {
    case 'string':
      return writeString(natives, sheet, value);
    case 'boolean':
      return spend(sheet, value ? 'true' : 'false');
    case 'object':
      return encodeObject(natives, sheet, value, place);
    default:
      return encodeOddity(natives, sheet, value);
  }
}
