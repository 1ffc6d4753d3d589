// @ts-check
/**
 * Read the tools that are registered with `document.modelContext`, as one more group.
 * Runs: main world. The code of a polyfill runs.
 * @param {Natives} natives
 * @param {ModelContextSource} source
 * @param {Bounds} bounds
 * @param {Room} room how much more the page may offer; the tools take their share
 * @param {Registrations} registrations
 * @returns {Promise<{listed: ListedGroup, captured: RegisteredTool[], words: string}>}
 */
async function readRegistered(natives, source, bounds, room, registrations) {
  const registered = registrations.count();
  const tools = await registrations.list(source);
  const description = 'Registered with document.modelContext. Annotations are claims of the page.';
  const given = { __proto__: null, name: 'WebMCP', description, tools };
  const read = (/** @type {unknown} */ tool) => 
    readRegisteredTool(natives, tool, bounds, source, registrations, registered);
  const { listed, captured } = readGroup(natives, given, bounds, room, read);
  let words = '';
  for (let i = 0; i < captured.length; i++) words += captured[i]?.words;
  return { listed, captured, words };
}
