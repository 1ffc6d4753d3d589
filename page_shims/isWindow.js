// @ts-check
/**
 * Whether a value is a window, of this origin or another one.
 * Runs: main world. Traps of a proxy run, and may throw.
 * @param {Natives} natives
 * @param {any} value
 * @returns {boolean}
 */
function isWindow(natives, value) {
  if (!natives.readers.hasOwn(value, 'window')) return false;
  try {
    return natives.apply(natives.readers.windowSelf, value, []) === value;
  } catch {
    return false;
  }
}
