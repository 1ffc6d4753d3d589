// @ts-check
/**
 * Whether an object has a class of its own.
 * Runs: main world. A trap of a proxy runs; one that throws counts as no.
 * @param {Natives} natives
 * @param {object} value not an array
 * @returns {boolean}
 */
function isInstance(natives, value) {
  try {
    const prototype = natives.prototypeOf(value);
    return prototype !== null && prototype !== natives.objectPrototype;
  } catch {
    return false;
  }
}
