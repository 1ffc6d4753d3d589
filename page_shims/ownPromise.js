// @ts-check
/**
 * Make `await` take a promise of the browser's own as it is, whatever a page has put into Promise.prototype.
 * Runs: main world. Touches no page global.
 * @template T
 * @param {Natives} natives
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
function ownPromise(natives, promise) {
  natives.defineProperty(promise, 'constructor', { __proto__: null, value: natives.Promise });
  return promise;
}
