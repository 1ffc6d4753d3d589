// @ts-check
/**
 * Give a script what came of a tool that it wanted to be called.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the run's number, the call's, whether it went well, and its result as JSON or what is wrong
 * @returns {void}
 */
function answerScriptCall(inside, given) {
  inside.scripts[given[0]]?.answer(given[1], given[2], given[3]);
}
