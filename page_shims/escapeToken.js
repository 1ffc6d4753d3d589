// @ts-check
/**
 * One step of a JSON Pointer. A long one is cut.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} key
 * @returns {string}
 */
function escapeToken(natives, key) {
  const short = clipText(natives, key, 200);
  let token = '';
  for (let i = 0; i < short.length; i++) {
    const one = short[i];
    token += one === '~' ? '~0' : one === '/' ? '~1' : one;
  }
  return token;
}
