// @ts-check
/**
 * Begin the list of the elements that were named to an agent. It keeps none of them alive.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {NamedElements}
 */
function openElements() {
  const uids = new WeakMap();
  const passwords = new WeakMap();
  const elements = new Map();
  // Methods of their own, out of reach of what a page does to the prototypes.
  /** @param {any} table @param {string} name @param {any} prototype */
  const keep = (table, name, prototype) =>
    Reflect.defineProperty(table, name, /** @type {any} */ ({ __proto__: null, value: prototype[name] }));
  keep(uids, 'get', WeakMap.prototype);
  keep(uids, 'set', WeakMap.prototype);
  keep(passwords, 'get', WeakMap.prototype);
  keep(passwords, 'set', WeakMap.prototype);
  keep(elements, 'get', Map.prototype);
  keep(elements, 'set', Map.prototype);
  keep(elements, 'delete', Map.prototype);
  const random = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return { __proto__: null, mark: random % 1e8, minted: 0, uids, passwords, elements, WeakRef, deref: WeakRef.prototype.deref };
}
