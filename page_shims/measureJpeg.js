// @ts-check
/**
 * The size that a JPEG says it has: it is in the first frame header, which other segments come before. 0 without one.
 * Runs: main world. Touches no page global.
 * @param {Uint8Array} bytes
 * @param {number} length how many there are
 * @returns {PictureSize}
 */
function measureJpeg(bytes, length) {
  /** @param {number} at */
  const two = (at) => (/** @type {number} */ (bytes[at]) << 8) | /** @type {number} */ (bytes[at + 1]);
  for (let at = 2; at + 9 <= length; ) {
    const marker = two(at) - 0xff00;
    if (marker < 0 || marker === 0xff) at += 1;
    else if (marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd9)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { __proto__: null, width: two(at + 7), height: two(at + 5) };
    } else at += 2 + two(at + 2);
  }
  return { __proto__: null, width: 0, height: 0 };
}
