// @ts-check
/**
 * One entry before the own fields of an object.
 * Runs: main world. Touches no page global.
 * @param {string} key
 * @param {Head['is']} is
 * @param {unknown} value
 * @param {number} length
 * @returns {Head}
 */
function makeHead(key, is, value, length = 0) {
  return { __proto__: null, key, is, value, length };
}
