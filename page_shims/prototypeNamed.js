// @ts-check
/**
 * The prototype of a global class, null where there is none.
 * Runs: main world, document start. In a document that ran before, a getter of the page may run.
 * @param {string} name
 * @returns {any}
 */
function prototypeNamed(name) {
  try {
    return /** @type {any} */ (globalThis)[name].prototype ?? null;
  } catch {
    return null;
  }
}
