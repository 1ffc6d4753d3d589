// @ts-check
/**
 * Put a function in the place of a method; everything else about the property stays.
 * Runs: main world, document start.
 * @param {Natives} natives
 * @param {object} owner
 * @param {string} name
 * @param {Function} method
 * @returns {void}
 */
function replaceMethod(natives, owner, name, method) {
  const was = natives.propertyOf(owner, name);
  natives.defineProperty(owner, name, {
    __proto__: null,
    value: method,
    writable: was.writable,
    enumerable: was.enumerable,
    configurable: was.configurable,
  });
}
