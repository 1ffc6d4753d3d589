// @ts-check
/**
 * A number of things, in words.
 * Runs: main world. Touches no page global.
 * @param {number} count
 * @param {string} thing
 * @returns {string}
 */
function counted(count, thing) {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
