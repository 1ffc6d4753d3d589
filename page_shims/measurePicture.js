// @ts-check
/**
 * The size in pixels that a PNG, JPEG, WebP or GIF says it has; null where the bytes begin like none of these, and a
 * size of 0 where it can't be told. Nothing is decoded: it is known before a picture takes its memory.
 * Runs: main world. Touches no page global.
 * @param {Uint8Array} bytes
 * @param {number} length how many there are
 * @returns {PictureSize | null}
 */
function measurePicture(bytes, length) {
  /** @param {number} at */
  const byte = (at) => (at < length ? /** @type {number} */ (bytes[at]) : 0);
  /** @param {number} at */
  const little = (at) => byte(at) | (byte(at + 1) << 8);
  /** @param {number} at */
  const big = (at) => byte(at) * 0x1000000 + ((byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3));
  /** @param {number} width @param {number} height @returns {PictureSize} */
  const size = (width, height) => ({ __proto__: null, width, height });

  if (big(0) === 0x89504e47 && big(4) === 0x0d0a1a0a) return size(big(16), big(20));
  if (big(0) === 0x47494638) return size(little(6), little(8)); // GIF8
  if (byte(0) === 0xff && byte(1) === 0xd8 && byte(2) === 0xff) return measureJpeg(bytes, length);
  if (big(0) !== 0x52494646 || big(8) !== 0x57454250) return null; // RIFF, WEBP
  switch (big(12)) {
    case 0x56503820: // "VP8 ", lossy
      return size(little(26) & 0x3fff, little(28) & 0x3fff);
    case 0x5650384c: // VP8L, lossless: two numbers of 14 bits
      return size((little(21) & 0x3fff) + 1, ((byte(22) >> 6) | (byte(23) << 2) | ((byte(24) & 0xf) << 10)) + 1);
    case 0x56503858: // VP8X, extended
      return size((little(24) | (byte(26) << 16)) + 1, (little(27) | (byte(29) << 16)) + 1);
    default:
      return size(0, 0);
  }
}
