// @ts-check
/**
 * The bytes that base64 text stands for.
 * Runs: main world. Touches no page global. Throws where it is none.
 * @param {Natives} natives
 * @param {string} text
 * @returns {Uint8Array}
 */
function bytesOf(natives, text) {
  return natives.apply(natives.pictures.fromBase64, natives.readers.Uint8Array, [text]);
}
