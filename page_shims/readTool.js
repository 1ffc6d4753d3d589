// @ts-check
/**
 * Read one tool as the page gave it: each property once, so that what was checked is what is listed and run.
 * Runs: main world. Getters of the page run.
 * @param {Natives} natives
 * @param {any} given
 * @param {Bounds} bounds
 * @returns {{fault: Fault} | {listed: ListedTool, captured: CapturedTool}}
 */
function readTool(natives, given, bounds) {
  /** @param {string} part @param {string} expected @param {unknown} found @param {unknown} name */
  const fault = (part, expected, found, name) => ({
    fault: {
      __proto__: null,
      part,
      expected,
      found: describeKind(natives, found),
      name: typeof name === 'string' ? natives.apply(natives.sliceString, name, [0, bounds.nameChars]) : null,
    },
  });
  if (given === null || typeof given !== 'object') return fault('tool', 'an object', given, null);
  const { name, description, inputSchema, execute } = given;
  if (typeof name !== 'string') return fault('name', 'a string', name, null);
  if (name.length > bounds.nameChars) {
    return fault('name', `at most ${bounds.nameChars} characters`, name, name);
  }
  if (typeof description !== 'string') return fault('description', 'a string', description, name);
  if (inputSchema === null || typeof inputSchema !== 'object' || natives.isArray(inputSchema)) {
    return fault('inputSchema', 'an object', inputSchema, name);
  }
  if (typeof execute !== 'function') return fault('execute', 'a function', execute, name);
  let schema = null;
  try {
    schema = encodeValue(natives, inputSchema, { chars: bounds.schemaChars, depth: bounds.schemaDepth * 4 });
  } catch {
    return fault('inputSchema', `at most ${bounds.schemaChars} characters of JSON`, inputSchema, name);
  }
  return {
    listed: {
      __proto__: null,
      name,
      description: natives.apply(natives.sliceString, description, [0, bounds.descriptionChars]),
      cut: description.length > bounds.descriptionChars ? description.length : 0,
      schema,
    },
    captured: { __proto__: null, owner: given, execute },
  };
}
