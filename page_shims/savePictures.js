// @ts-check
/**
 * Keep the built-ins by which pictures and other binary data are read, drawn and encoded.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Natives}
 */
function savePictures() {
  const { OffscreenCanvas, Response, Uint8Array, createImageBitmap } = /** @type {any} */ (globalThis);
  const bitmap = prototypeNamed('ImageBitmap');
  const context = prototypeNamed('OffscreenCanvasRenderingContext2D');
  /** @param {string} name */
  const sized = (name) => {
    const prototype = prototypeNamed(name);
    return { __proto__: null, width: getterOf(prototype, 'width'), height: getterOf(prototype, 'height') };
  };
  return {
    __proto__: null,
    OffscreenCanvas,
    Response,
    createImageBitmap,
    fromBase64: Uint8Array.fromBase64,
    toBase64: Uint8Array.prototype.toBase64,
    blobOf: prototypeNamed('Response')?.blob,
    bufferOf: prototypeNamed('Blob')?.arrayBuffer,
    closeBitmap: bitmap?.close,
    getContext: prototypeNamed('OffscreenCanvas')?.getContext,
    drawImage: context?.drawImage,
    setSmoothing: Reflect.getOwnPropertyDescriptor(context ?? {}, 'imageSmoothingQuality')?.set,
    toBlob: prototypeNamed('OffscreenCanvas')?.convertToBlob,
    errorName: getterOf(prototypeNamed('DOMException'), 'name'),
    sizes: {
      __proto__: null,
      canvas: sized('HTMLCanvasElement'),
      offscreen: sized('OffscreenCanvas'),
      pixels: sized('ImageData'),
      bitmap: sized('ImageBitmap'),
    },
  };
}
