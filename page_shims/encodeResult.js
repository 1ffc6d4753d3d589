// @ts-check
/**
 * Write what a tool returned. Where that is too much, or a class instance holds more objects than `bounds.insiders`,
 * as one of a framework does that leads to everything in it, instances are written by their own fields alone.
 * Runs: main world. Getters and `toJSON` of the value run, at most twice. Throws as `encodeValue` does.
 * @param {Natives} natives
 * @param {unknown} value
 * @param {ResultBounds} bounds
 * @returns {string}
 */
function encodeResult(natives, value, bounds) {
  try {
    return encodeValue(natives, value, bounds);
  } catch (thrown) {
    if (thrown !== 'too entangled' && thrown !== 'too large') throw thrown;
    return encodeValue(natives, value, { chars: bounds.chars, depth: bounds.depth, insiders: 0 });
  }
}
