// @ts-check
/**
 * Find the next item of an array with holes. A short run of holes is walked over; before a long one the array is asked
 * for its keys, once.
 * Runs: main world. Traps of a proxy run.
 * @param {Natives} natives
 * @param {any} list
 * @param {number} length
 * @returns {(from: number) => number} the first index from there on that has an item, or the length; `from` only rises
 */
function nextIndex(natives, list, length) {
  /** @type {string[] | null} */
  let keys = null;
  let at = 0;
  return (from) => {
    let index = from;
    while (keys === null && index < length) {
      if (natives.readers.hasOwn(list, index)) return index;
      if (++index - from > 1000) keys = natives.ownKeys(list);
    }
    while (keys !== null && at < keys.length) {
      const key = /** @type {string} */ (keys[at]);
      // Keys that are indexes come first.
      if (`${+key}` !== key || !(+key < length)) break;
      if (+key >= from) return +key;
      at++;
    }
    return length;
  };
}
