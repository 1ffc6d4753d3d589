// @ts-check
/**
 * The bytes as they can be shown: a picture that is too large is drawn smaller; all else stays as it is. Those of
 * what the browser can't show as a picture, or would have to give too much memory for, have no size in pixels.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Uint8Array} bytes
 * @param {MediaBounds} bounds
 * @returns {Promise<ShownBytes>}
 */
async function showBytes(natives, bytes, bounds) {
  const { Response, blobOf, closeBitmap, createImageBitmap } = natives.pictures;
  const length = natives.apply(natives.readers.typedLength, bytes, []);
  const said = measurePicture(bytes, length);
  const asData = { __proto__: null, bytes, width: 0, height: 0, whole: null };
  if (said === null || said.width * said.height === 0 || said.width * said.height > bounds.pixels) return asData;
  let bitmap = null;
  try {
    const blob = await ownPromise(natives, natives.apply(blobOf, new Response(bytes), []));
    bitmap = await ownPromise(natives, createImageBitmap(blob));
    const whole = sizeOf(natives, 'bitmap', bitmap);
    if (whole.width <= bounds.side && whole.height <= bounds.side && length <= bounds.bytes) {
      return { __proto__: null, bytes, width: whole.width, height: whole.height, whole: null };
    }
    return await ownPromise(natives, drawSmaller(natives, bitmap, whole, length > bounds.bytes, bounds));
  } catch {
    return asData;
  } finally {
    if (bitmap !== null) natives.apply(closeBitmap, bitmap, []);
  }
}
