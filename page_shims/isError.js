// @ts-check
/**
 * Whether a value is an error of this frame, or one of another frame that does not hide it.
 * Runs: main world. Traps of a proxy run; one that throws counts as no.
 * @param {Natives} natives
 * @param {any} value
 * @returns {boolean}
 */
function isError(natives, value) {
  if (value === null || typeof value !== 'object') return false;
  const { isPrototypeOf, objectToString } = natives.readers;
  try {
    return (
      natives.apply(isPrototypeOf, natives.Error.prototype, [value]) ||
      natives.apply(objectToString, value, []) === '[object Error]'
    );
  } catch {
    return false;
  }
}
