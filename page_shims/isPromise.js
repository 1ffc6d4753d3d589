// @ts-check
/**
 * Whether a value is to be awaited. Reading `then` may run code of the page; a `then` that throws counts as none.
 * Runs: main world.
 * @param {Natives} natives
 * @param {any} value
 * @returns {boolean}
 */
function isPromise(natives, value) {
  if (value === null || typeof value !== 'object') return false;
  try {
    const { isPrototypeOf } = natives.readers;
    return natives.apply(isPrototypeOf, natives.Promise.prototype, [value]) || typeof value.then === 'function';
  } catch {
    return false;
  }
}
