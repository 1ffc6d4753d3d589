// @ts-check
/**
 * The next tool that a script wants to be called; null once it has ended.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the run's number
 * @returns {Promise<ScriptCall | null> | null}
 */
function nextScriptCall(inside, given) {
  return inside.scripts[given[0]]?.next() ?? null;
}
