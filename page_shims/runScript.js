// @ts-check
/**
 * Run a script of an agent as a tool is run. What it gives is its result; a function is called with elements for that.
 * Runs: main world. The script runs.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the run's number, the bounds of its result as JSON, the script as a function that takes
 *   `callTool`, and the elements
 * @returns {Promise<Ending>}
 */
async function runScript(inside, given) {
  const { natives, runs, scripts, appendTo, ownPromise, runTool } = inside;
  const number = given[0];
  const bounds = natives.parse(given[1]);
  const calls = openScriptCalls(natives);
  /** @type {object[]} */
  const elements = [];
  for (let i = 3; i < given.length; i++) appendTo(natives, elements, given[i]);
  scripts[number] = calls;
  const execute = async () => {
    const value = await natives.apply(given[2], undefined, [calls.call]);
    return typeof value === 'function' ? natives.apply(value, undefined, elements) : value;
  };
  const begun = runs.begin(number, () => runTool(natives, execute, bounds));
  const ending = await ownPromise(natives, begun);
  calls.close();
  delete scripts[number];
  return ending;
}
