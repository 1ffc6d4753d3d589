// @ts-check
/**
 * Write a value that is neither object, string, boolean nor null.
 * Runs: main world. A getter on a function's `name` runs.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {unknown} value
 * @returns {string}
 */
function encodeOddity(natives, sheet, value) {
  switch (typeof value) {
    case 'number':
      if (value === 0 && 1 / value < 0) return writeMarker(natives, sheet, '-0', '');
      return value - value === 0 ? spend(sheet, `${value}`) : writeMarker(natives, sheet, `${value}`, '');
    case 'bigint':
      return writeMarker(natives, sheet, 'bigint', bigintText(value));
    case 'symbol': {
      const name = natives.apply(natives.readers.symbolName, value, []);
      return writeMarker(natives, sheet, 'symbol', name ?? '');
    }
    case 'function':
      return writeMarker(natives, sheet, isClass(natives, value) ? 'class' : 'function', functionName(natives, value));
    default:
      return writeMarker(natives, sheet, 'undefined', '');
  }
}
