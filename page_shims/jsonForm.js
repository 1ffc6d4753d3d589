// @ts-check
/**
 * What the `toJSON` of an object gives, or the object itself. It counts where the object's own class gives it: one
 * patched onto Object.prototype or Array.prototype belongs to the page's environment, not to the value.
 * Runs: main world. Traps and `toJSON` of the value run, and may throw.
 * @param {Natives} natives
 * @param {any} value
 * @param {ClassInfo} about
 * @param {string} key
 * @returns {unknown}
 */
function jsonForm(natives, value, about, key) {
  if (!about.json && !natives.readers.hasOwn(value, 'toJSON')) return value;
  const { toJSON } = value;
  return typeof toJSON === 'function' ? natives.apply(toJSON, value, [key]) : value;
}
