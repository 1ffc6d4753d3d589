// @ts-check
/**
 * How many characters a text takes on the wire, where it is once more in a JSON string of ASCII.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @returns {number}
 */
function costOf({ codeAt }, text) {
  let cost = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = codeAt(text, i);
    if (code > 0x7e || code < 0x20) cost += 5;
    else if (code === 0x22 || code === 0x5c) cost++;
  }
  return cost;
}
