// @ts-check
/**
 * Read what an agent is told of any tool: its name, its description and its schema.
 * Runs: main world. Getters in the schema run.
 * @param {Natives} natives
 * @param {{name: unknown, description: any, inputSchema: unknown}} given each read once from what the page gave
 * @param {Bounds} bounds
 * @returns {Faulty | Told}
 */
function readWords(natives, { name, description, inputSchema }, bounds) {
  if (typeof name !== 'string') return makeFault(natives, 'name', 'a string', name, null, bounds);
  if (name.length > bounds.nameChars) {
    return makeFault(natives, 'name', `at most ${bounds.nameChars} characters`, name, name, bounds);
  }
  if (typeof description !== 'string') return makeFault(natives, 'description', 'a string', description, name, bounds);
  if (inputSchema === null || typeof inputSchema !== 'object' || natives.isArray(inputSchema)) {
    return makeFault(natives, 'inputSchema', 'an object', inputSchema, name, bounds);
  }
  let schema = null;
  try {
    schema = writeJson(natives, inputSchema, { chars: bounds.schemaChars, depth: bounds.schemaDepth * 4 });
  } catch {
    return makeFault(natives, 'inputSchema', `at most ${bounds.schemaChars} characters of JSON`, inputSchema, name, bounds);
  }
  const cut = description.length > bounds.descriptionChars ? description.length : 0;
  const shown = natives.apply(natives.sliceString, description, [0, bounds.descriptionChars]);
  return { __proto__: null, listed: { __proto__: null, name, description: shown, cut, schema } };
}
