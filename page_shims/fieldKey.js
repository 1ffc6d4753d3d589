// @ts-check
/**
 * How a key of an object is said. Where the object would read like an element, that is told apart by a backslash.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Extract<Shape, {is: 'fields'}>} shape
 * @param {number} index
 * @returns {string}
 */
function fieldKey(natives, { heads, keys }, index) {
  const key = /** @type {string} */ (keys[index]);
  if (index === 1 && keys.length === 2 && heads.length === 0 && keys[0] === 'uid') {
    let start = 0;
    while (key[start] === '\\') start++;
    if (natives.apply(natives.sliceString, key, [start]) === 'describe') return `\\${key}`;
  }
  return escapeKey(natives, key);
}
