// @ts-check
/**
 * Say which kind of picture or binary data a value is, '' for every other one. What it is comes from inside of it:
 * one of another frame counts, and one that only has the prototype does not.
 * Runs: main world. The trap of a proxy may run.
 * @param {Natives} natives
 * @param {any} value
 * @param {MediaBounds} bounds
 * @returns {BinaryKind}
 */
function binaryKind(natives, value, bounds) {
  if (typeof value === 'string') return isDataUrl(natives, value, bounds) ? 'url' : '';
  if (typeof value !== 'object' || value === null || natives.isArray(value)) return '';
  const { pictures, readers } = natives;
  /** @param {Function | undefined} reader */
  const has = (reader) => {
    try {
      natives.apply(reader, value, []);
      return true;
    } catch {
      return false;
    }
  };
  try {
    const prototype = natives.prototypeOf(value);
    if (prototype === null || prototype === natives.objectPrototype) return '';
  } catch {
    return '';
  }
  if (has(readers.blobSize)) return 'blob';
  if (has(pictures.sizes.canvas.width)) return 'canvas';
  if (has(pictures.sizes.offscreen.width)) return 'offscreen';
  if (has(pictures.sizes.pixels.width)) return 'pixels';
  return has(pictures.sizes.bitmap.width) ? 'bitmap' : '';
}
