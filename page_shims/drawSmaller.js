// @ts-check
/**
 * Draw a picture no larger than the bounds, and encode it: as PNG, which loses nothing, or as WebP where that takes
 * too many bytes; and smaller again until it fits.
 * Runs: main world. Touches no page global. Rejects with a DOMException of the browser.
 * @param {Natives} natives
 * @param {unknown} source what can be drawn
 * @param {PictureSize} whole its size
 * @param {boolean} lossy do not try PNG
 * @param {MediaBounds} bounds
 * @returns {Promise<ShownBytes>}
 */
async function drawSmaller(natives, source, whole, lossy, bounds) {
  const { OffscreenCanvas, bufferOf, drawImage, getContext, setSmoothing, toBlob } = natives.pictures;
  const longer = whole.width > whole.height ? whole.width : whole.height;
  let scale = longer > bounds.side ? bounds.side / longer : 1;
  let quality = 0.85;
  let type = lossy ? 'image/webp' : 'image/png';
  for (;;) {
    const width = ~~(whole.width * scale + 0.5) || 1;
    const height = ~~(whole.height * scale + 0.5) || 1;
    const canvas = new OffscreenCanvas(width, height);
    const context = natives.apply(getContext, canvas, ['2d']);
    natives.apply(setSmoothing, context, ['high']);
    natives.apply(drawImage, context, [source, 0, 0, width, height]);
    for (; quality > 0.5; quality -= 0.25) {
      const blob = await ownPromise(natives, natives.apply(toBlob, canvas, [{ __proto__: null, type, quality }]));
      if (natives.apply(natives.readers.blobSize, blob, []) <= bounds.bytes) {
        const buffer = await ownPromise(natives, natives.apply(bufferOf, blob, []));
        return { __proto__: null, bytes: new natives.readers.Uint8Array(buffer), width, height, whole };
      }
      if (type === 'image/png') quality += 0.25;
      type = 'image/webp';
    }
    quality = 0.6;
    scale *= 0.75;
  }
}
