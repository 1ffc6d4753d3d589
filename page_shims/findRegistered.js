// @ts-check
/**
 * Find a registered tool again, if what is told of it now is what was told of it then.
 * Runs: main world. The code of a polyfill runs.
 * @param {Natives} natives
 * @param {RegisteredTool} tool
 * @param {Registrations} registrations
 * @returns {Promise<unknown>} its entry as `getTools` gives it, or null
 */
async function findRegistered(natives, tool, registrations) {
  try {
    const entries = await listRegistered(natives, tool.source);
    for (let i = 0; i < entries.length; i++) {
      if (entries[i].name !== tool.name) continue;
      const read = readRegisteredTool(natives, entries[i], tool.bounds, tool.source, registrations, 0);
      if ('captured' in read && read.captured.words === tool.words) return entries[i];
    }
  } catch {
    // Nothing that can be read is there any more.
  }
  return null;
}
