// @ts-check
/**
 * Draw what is in memory as a picture that can be sent.
 * Runs: main world. Touches no page global. Rejects with a DOMException of the browser, or `empty`.
 * @param {Natives} natives
 * @param {BinaryKind} kind
 * @param {any} source a canvas, ImageData or ImageBitmap
 * @param {MediaBounds} bounds
 * @returns {Promise<ShownBytes>}
 */
async function showCanvas(natives, kind, source, bounds) {
  const { closeBitmap, createImageBitmap } = natives.pictures;
  const whole = sizeOf(natives, kind, source);
  if (whole.width * whole.height === 0) throw 'empty';
  if (kind !== 'pixels') return await ownPromise(natives, drawSmaller(natives, source, whole, false, bounds));
  const bitmap = await ownPromise(natives, createImageBitmap(source));
  try {
    return await ownPromise(natives, drawSmaller(natives, bitmap, whole, false, bounds));
  } finally {
    natives.apply(closeBitmap, bitmap, []);
  }
}
