// @ts-check
/**
 * Whether a key reads like one of ours, with or without backslashes before it.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} key
 * @returns {boolean}
 */
function isKeyMarker(natives, key) {
  let start = 0;
  while (key[start] === '\\') start++;
  if (key[start] !== '[' || key.length - start > 30) return false;
  switch (natives.apply(natives.sliceString, key, [start])) {
    case '[class]':
    case '[more keys]':
    case '[Error]':
    case '[FormData]':
    case '[Headers]':
    case '[Map]':
    case '[Set]':
    case '[URLSearchParams]':
    case '[ArrayBuffer]':
    case '[DataView]':
    case '[BigInt64Array]':
    case '[BigUint64Array]':
    case '[Float16Array]':
    case '[Float32Array]':
    case '[Float64Array]':
    case '[Int8Array]':
    case '[Int16Array]':
    case '[Int32Array]':
    case '[Uint8Array]':
    case '[Uint8ClampedArray]':
    case '[Uint16Array]':
    case '[Uint32Array]':
      return true;
    default:
      return false;
  }
}
