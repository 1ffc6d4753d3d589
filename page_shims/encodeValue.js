// @ts-check
/**
 * Write any value as JSON text, as docs/values.md describes it: what JSON can say as JSON.stringify would, the rest
 * as markers that name it. What passes a bound is cut, and the place says how much is missing.
 * Runs: main world. Getters, traps and `toJSON` of the value run; one that throws costs only its own place.
 * @param {Natives} natives
 * @param {unknown} value
 * @param {ValueBounds} bounds
 * @param {string} pointer where the value is in the whole result
 * @returns {string}
 */
function encodeValue(natives, value, bounds, pointer) {
  return encodeAny(natives, openSheet(natives, bounds), value, topPlace(pointer));
}
