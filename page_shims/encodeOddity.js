// @ts-check
/**
 * Write a value that is neither object, string, boolean nor null. Runs no code of the page.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {unknown} value
 * @param {(text: string) => string} quote writes JSON string text
 * @param {(text: string) => string} spend counts text against the limit
 * @returns {string}
 */
function encodeOddity(natives, value, quote, spend) {
  switch (typeof value) {
    case 'number':
      return value - value === 0 ? spend(`${value}`) : quote(`[${value}]`);
    case 'bigint':
      return quote(`[bigint ${natives.apply(natives.bigintToString, value, [])}]`);
    case 'symbol':
      return quote(`[${natives.apply(natives.symbolToString, value, [])}]`);
    case 'function':
      return quote(`[function ${functionName(natives, value)}]`);
    default:
      return quote('[undefined]');
  }
}
