// @ts-check
/**
 * Read one tool as `getTools` gave it. A form is known by its element, or by no script having registered its name.
 * Runs: main world. Getters of a polyfill's entry run.
 * @param {Natives} natives
 * @param {any} given
 * @param {Bounds} bounds
 * @param {ModelContextSource} source
 * @param {Registrations} registrations
 * @param {number} registered how many registrations there were before it was asked for
 * @returns {Faulty | ReadTool<RegisteredTool>}
 */
function readRegisteredTool(natives, given, bounds, source, registrations, registered) {
  if (given === null || typeof given !== 'object') return makeFault(natives, 'tool', 'an object', given, null, bounds);
  const { name, title, description, inputSchema = { __proto__: null }, annotations } = given;
  const told = readWords(natives, { name, description, inputSchema }, bounds);
  if ('fault' in told) return told;
  const { listed } = told;
  const form = findForm(natives, listed.name);
  const isForm = form !== null || (registrations.watched && !registrations.has(listed.name));
  /** @type {Record<string, unknown>} */
  const claims = { __proto__: null };
  if (typeof title === 'string' && title !== '') {
    claims.title = natives.apply(natives.sliceString, title, [0, bounds.nameChars]);
  }
  if (annotations?.readOnlyHint === true) claims.readOnlyHint = true;
  if (annotations?.consequentialHint === true) claims.consequentialHint = true;
  if (annotations?.untrustedContentHint === true) claims.untrustedContentHint = true;
  if (annotations?.debugging === true) claims.debugging = true;
  if (isForm) claims.declarative = true;
  listed.annotations = claims;
  const text = writeJson(natives, [listed.name, listed.description, claims], { chars: Infinity, depth: 3 });
  const words = `${text}${listed.schema}`;
  const captured = { __proto__: null, source, bounds, entry: given, registered, name: listed.name, words, isForm, form };
  return { __proto__: null, listed, captured };
}
