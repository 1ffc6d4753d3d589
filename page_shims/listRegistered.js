// @ts-check
/**
 * Ask for the tools that are registered now, without those of other documents: they are listed where they are.
 * Runs: main world. The code of a polyfill runs. Rejects where the page may not use WebMCP.
 * @param {Natives} natives
 * @param {ModelContextSource} source
 * @returns {Promise<any[]>}
 */
async function listRegistered(natives, source) {
  const given = await natives.apply(source.getTools, source.context, []);
  /** @type {any[]} */
  const here = [];
  const count = given.length;
  for (let i = 0; i < count; i++) {
    const where = given[i]?.window;
    if (where === undefined || where === natives.window) appendTo(natives, here, given[i]);
  }
  return here;
}
