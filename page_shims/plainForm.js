// @ts-check
/**
 * Turn an object that JSON has no form for into one that it has; return the object itself where it is plain.
 * `toJSON` counts where the object's own class gives it: one patched onto Object.prototype or Array.prototype
 * belongs to the page's environment, not to the value.
 * Runs: main world. Getters and `toJSON` of the value run; one that throws is written in its place.
 * @param {Natives} natives
 * @param {any} value not an array
 * @returns {unknown}
 */
function plainForm(natives, value) {
  try {
    const prototype = natives.prototypeOf(value);
    if (prototype === null) return value;
    const toJSON = value.toJSON;
    if (typeof toJSON === 'function' && toJSON !== natives.objectPrototype.toJSON) {
      return natives.apply(toJSON, value, []);
    }
    if (prototype === natives.objectPrototype) return value;
    if (value instanceof natives.Error) {
      return { __proto__: null, name: value.name, message: value.message, stack: value.stack };
    }
    /** @type {unknown[]} */
    const items = [];
    if (value instanceof natives.Map) {
      const pair = /** @param {unknown} item @param {unknown} key */ (item, key) =>
        appendTo(natives, items, [key, item]);
      natives.apply(natives.mapForEach, value, [pair]);
      return items;
    }
    if (value instanceof natives.Set) {
      natives.apply(natives.setForEach, value, [/** @param {unknown} item */ (item) => appendTo(natives, items, item)]);
      return items;
    }
    // What frameworks put on elements leads to all of their inside.
    if (!(value instanceof natives.Node) && natives.ownKeys(value).length > 0) return value;
    return `[${functionName(natives, value.constructor)}]`;
  } catch (thrown) {
    return `[cannot be read: ${describeKind(natives, thrown)}]`;
  }
}
