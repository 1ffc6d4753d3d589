// @ts-check
/**
 * Whether a string is a `data:` URL, in base64, of a picture or a sound. The type that it declares says nothing, and
 * one that is no good to the end, such as one that was shortened, is a string like any.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @param {MediaBounds} bounds
 * @returns {boolean}
 */
function isDataUrl(natives, text, bounds) {
  const start = dataStart(natives, text);
  if (start === 0) return false;
  try {
    const head = bytesOf(natives, natives.apply(natives.sliceString, text, [start, start + 64]));
    if (measurePicture(head, 64) === null && !isSound(head)) return false;
    if ((text.length - start) * 0.75 <= bounds.fileBytes) bytesOf(natives, natives.apply(natives.sliceString, text, [start]));
    return true;
  } catch {
    return false;
  }
}
