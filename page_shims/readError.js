// @ts-check
/**
 * Decide how an error is written: by name and message, stack, cause, and its own fields.
 * Runs: main world. Getters of the error run; traps of a proxy may throw.
 * @param {Natives} natives
 * @param {any} error
 * @param {ClassInfo} about
 * @param {boolean} stacks
 * @returns {Extract<Shape, {is: 'fields'}>}
 */
function readError(natives, error, about, stacks) {
  const { hasOwn } = natives.readers;
  const { name, message } = errorWords(natives, error);
  const heads = [makeHead('[Error]', 'text', message === '' ? name : `${name}: ${message}`)];
  if (stacks && hasStack(error)) appendTo(natives, heads, makeHead('stack', 'member', error));
  if (hasOwn(error, 'cause')) appendTo(natives, heads, makeHead('cause', 'member', error));
  if (hasOwn(error, 'errors')) appendTo(natives, heads, makeHead('errors', 'member', error));
  /** @type {string[]} */
  const keys = [];
  const all = natives.ownKeys(error);
  for (let i = 0; i < all.length; i++) {
    switch (all[i]) {
      case 'name':
      case 'message':
      case 'stack':
      case 'cause':
      case 'errors':
        break;
      default:
        appendTo(natives, keys, all[i]);
    }
  }
  return { __proto__: null, is: 'fields', owner: error, heads, keys, about, instance: false };
}
