// @ts-check
/**
 * Describe what `executeTool` answered: a string as it is, and any other value as JSON text, which looks the same.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {unknown} answer null where a form took the page elsewhere
 * @param {ValueBounds} bounds
 * @returns {Promise<Ending>}
 */
async function describeAnswer(natives, answer, bounds) {
  const ending = await runTool(natives, () => answer ?? undefined, bounds);
  if (ending.kind === 'string' && (ending.text[0] === '{' || ending.text[0] === '[')) {
    try {
      natives.parse(ending.text);
      ending.kind = 'json';
    } catch {
      // A string that only begins like JSON.
    }
  }
  return ending;
}
