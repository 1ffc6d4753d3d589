// @ts-check
/**
 * Whether a function is a class: that is what its fixed `prototype` says.
 * Runs: main world. A trap of a proxy runs; one that throws counts as no.
 * @param {Natives} natives
 * @param {unknown} value
 * @returns {boolean}
 */
function isClass(natives, value) {
  try {
    const property = natives.propertyOf(value, 'prototype');
    return property !== undefined && natives.readers.hasOwn(property, 'writable') && !property.writable;
  } catch {
    return false;
  }
}
