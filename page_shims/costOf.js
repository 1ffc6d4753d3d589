// @ts-check
/**
 * How many characters a text takes on the wire, where it is once more in a JSON string of ASCII.
 * Runs: main world. Touches no page global.
 * @param {string} text
 * @returns {number}
 */
function costOf(text) {
  let cost = text.length;
  for (let i = 0; i < text.length; i++) {
    const one = /** @type {string} */ (text[i]);
    if (one > '~' || one < ' ') cost += 5;
    else if (one === '"' || one === '\\') cost++;
  }
  return cost;
}
