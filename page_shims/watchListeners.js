// @ts-check
/**
 * Notice listeners for the discovery event as they are added to the window, at any time and in any way.
 * `addEventListener` becomes a proxy of the native function, and `Function.prototype.toString` one that hides both:
 * names, lengths, descriptors, text and identity are those of the native functions.
 * Runs: main world, document start.
 * @param {Natives} natives
 * @param {() => void} onAdded
 * @returns {() => number} how many were added
 */
function watchListeners(natives, onAdded) {
  let added = 0;
  const add = new natives.Proxy(natives.addEventListener, {
    __proto__: null,
    apply(/** @type {any} */ target, /** @type {any} */ self, /** @type {any} */ given) {
      const result = natives.apply(target, self, given);
      if (given[0] === 'devtoolstooldiscovery' && (self === natives.window || self === undefined || self === null)) {
        added++;
        onAdded();
      }
      return result;
    },
  });
  const toText = new natives.Proxy(natives.functionToString, {
    __proto__: null,
    apply(/** @type {any} */ target, /** @type {any} */ self, /** @type {any} */ given) {
      const shown = self === add ? natives.addEventListener : self === toText ? natives.functionToString : self;
      return natives.apply(target, shown, given);
    },
  });
  replaceMethod(natives, natives.eventTargetPrototype, 'addEventListener', add);
  replaceMethod(natives, natives.functionPrototype, 'toString', toText);
  return () => added;
}
