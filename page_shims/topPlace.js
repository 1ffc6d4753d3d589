// @ts-check
/**
 * The place of the value that an encoding begins with.
 * Runs: main world. Touches no page global.
 * @param {string} pointer where that is in the whole result
 * @returns {Place}
 */
function topPlace(pointer) {
  return { __proto__: null, above: null, key: pointer, depth: 0, open: false, asked: false };
}
