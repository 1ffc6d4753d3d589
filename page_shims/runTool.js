// @ts-check
/**
 * Run one tool and describe how it ended. Never rejects.
 * Runs: main world. The page's own function runs.
 * @param {Natives} natives
 * @param {() => unknown} execute
 * @param {ResultBounds} bounds
 * @returns {Promise<Ending>}
 */
async function runTool(natives, execute, bounds) {
  let value;
  try {
    value = await execute();
  } catch (thrown) {
    return describeThrown(natives, thrown, bounds);
  }
  try {
    if (value === undefined) return { __proto__: null, how: 'completed', kind: 'none', text: '' };
    if (typeof value === 'string') {
      if (value.length > bounds.chars) throw 'too large';
      const text = natives.apply(natives.wellFormed, value, []);
      return { __proto__: null, how: 'completed', kind: 'string', text };
    }
    return { __proto__: null, how: 'completed', kind: 'json', text: encodeResult(natives, value, bounds) };
  } catch (thrown) {
    if (thrown === 'too large') return { __proto__: null, how: 'too large', kind: 'none', text: '' };
    return describeThrown(natives, thrown, bounds);
  }
}
