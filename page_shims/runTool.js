// @ts-check
/**
 * Run one tool and describe how it ended. Never rejects.
 * Runs: main world. The page's own function runs.
 * @param {Natives} natives
 * @param {() => unknown} execute
 * @param {ValueBounds} bounds
 * @returns {Promise<Ending>}
 */
async function runTool(natives, execute, bounds) {
  let value;
  try {
    value = await execute();
  } catch (thrown) {
    return describeThrown(natives, thrown);
  }
  const described = describeResult(natives, value, bounds);
  return 'how' in described ? described : await ownPromise(natives, described);
}
