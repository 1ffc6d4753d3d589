// @ts-check
/**
 * The place of a value inside of another one.
 * Runs: main world. Touches no page global.
 * @param {Place} above
 * @param {string} key as the answer writes it
 * @returns {Place}
 */
function placeIn(above, key) {
  return { __proto__: null, above, key, depth: above.depth + 1, open: false, asked: false };
}
