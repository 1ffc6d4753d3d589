// @ts-check
/**
 * Whether a value is written as exactly this JSON text.
 * Runs: main world. The value came from JSON, so it has no getters.
 * @param {Natives} natives
 * @param {unknown} value
 * @param {string} text
 * @returns {boolean}
 */
function isWritten(natives, value, text) {
  try {
    return writeJson(natives, value, { chars: text.length, depth: Infinity }) === text;
  } catch {
    return false;
  }
}
