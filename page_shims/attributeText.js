// @ts-check
/**
 * The value of an attribute, in quotes where it needs them, cut where it is long.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} given
 * @returns {string}
 */
function attributeText(natives, given) {
  const short = clipText(natives, given, 80);
  for (let i = 0; i < short.length; i++) {
    const one = /** @type {string} */ (short[i]);
    if (one <= ' ' || one === '"' || one === '>' || one === '=') return natives.stringify(short);
  }
  return short;
}
