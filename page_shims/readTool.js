// @ts-check
/**
 * Read one tool as the page gave it: each property once, so that what was checked is what is listed and run.
 * Runs: main world. Getters of the page run.
 * @param {Natives} natives
 * @param {any} given
 * @param {Bounds} bounds
 * @returns {Faulty | ReadTool<CapturedTool>}
 */
function readTool(natives, given, bounds) {
  if (given === null || typeof given !== 'object') return makeFault(natives, 'tool', 'an object', given, null, bounds);
  const { name, description, inputSchema, execute } = given;
  const words = readWords(natives, { name, description, inputSchema }, bounds);
  if ('fault' in words) return words;
  if (typeof execute !== 'function') return makeFault(natives, 'execute', 'a function', execute, name, bounds);
  return { __proto__: null, listed: words.listed, captured: { __proto__: null, owner: given, execute } };
}
