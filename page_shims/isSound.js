// @ts-check
/**
 * Whether bytes begin like a sound: WAV, MP3, AAC, Ogg, FLAC or MP4. The bridge looks more closely.
 * Runs: main world. Touches no page global.
 * @param {Uint8Array} bytes at least twelve
 * @returns {boolean}
 */
function isSound(bytes) {
  /** @param {number} from @param {number[]} codes */
  const says = (from, codes) => {
    for (let i = 0; i < codes.length; i++) if (bytes[from + i] !== codes[i]) return false;
    return true;
  };
  return (
    says(0, [0x49, 0x44, 0x33]) || // ID3
    (bytes[0] === 0xff && /** @type {number} */ (bytes[1]) >= 0xe0 && bytes[1] !== 0xfe) ||
    says(0, [0x4f, 0x67, 0x67, 0x53]) || // OggS
    says(0, [0x66, 0x4c, 0x61, 0x43]) || // fLaC
    says(4, [0x66, 0x74, 0x79, 0x70]) || // ftyp
    (says(0, [0x52, 0x49, 0x46, 0x46]) && says(8, [0x57, 0x41, 0x56, 0x45])) // RIFF, WAVE
  );
}
