// @ts-check
/**
 * The shape of an object with a class, entries that say what is in it, and own fields.
 * Runs: main world. Traps of a proxy run, and may throw.
 * @param {Natives} natives
 * @param {object} owner
 * @param {ClassInfo} about
 * @param {string} label the name that the entries give it already
 * @param {Head[]} entries
 * @returns {Shape}
 */
function fieldsShape(natives, owner, about, label, entries) {
  const instance = about.name !== label;
  /** @type {Head[]} */
  const heads = instance ? [makeHead('[class]', 'text', about.name)] : [];
  for (let i = 0; i < entries.length; i++) appendTo(natives, heads, /** @type {Head} */ (entries[i]));
  return { __proto__: null, is: 'fields', owner, heads, keys: natives.ownKeys(owner), about, instance };
}
