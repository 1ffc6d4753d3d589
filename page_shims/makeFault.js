// @ts-check
/**
 * Say what is wrong with one tool as the page gave it.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} part
 * @param {string} expected
 * @param {unknown} found
 * @param {unknown} name
 * @param {Bounds} bounds
 * @returns {Faulty}
 */
function makeFault(natives, part, expected, found, name, bounds) {
  const shown = typeof name === 'string' ? natives.apply(natives.sliceString, name, [0, bounds.nameChars]) : null;
  const fault = { __proto__: null, part, expected, found: describeKind(natives, found), name: shown };
  return { __proto__: null, fault };
}
