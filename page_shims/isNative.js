// @ts-check
/**
 * Whether a function is the browser's own. Page code can make one that passes for it, so this only sorts.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {unknown} value
 * @returns {boolean}
 */
function isNative(natives, value) {
  if (typeof value !== 'function') return false;
  return natives.apply(natives.includes, natives.apply(natives.functionToString, value, []), ['[native code]']);
}
