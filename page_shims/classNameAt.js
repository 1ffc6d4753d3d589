// @ts-check
/**
 * The name of the class that a prototype belongs to, '' where it says none.
 * Runs: main world. A getter on the class's `name` runs; traps of a proxy run, and may throw.
 * @param {Natives} natives
 * @param {object} prototype
 * @returns {string}
 */
function classNameAt(natives, prototype) {
  const { hasOwn, toStringTag } = natives.readers;
  const maker = natives.propertyOf(prototype, 'constructor');
  if (maker !== undefined && hasOwn(maker, 'value') && typeof maker.value === 'function') {
    return functionName(natives, maker.value);
  }
  const tag = natives.propertyOf(prototype, toStringTag);
  return tag !== undefined && hasOwn(tag, 'value') && typeof tag.value === 'string' ? tag.value : '';
}
