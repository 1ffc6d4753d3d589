// @ts-check
/**
 * Read a map, a set, or what is like one. A proxy of one, as frameworks make them, is asked for its own `forEach`.
 * Runs: main world. Traps of a proxy run, and may throw.
 * @param {Natives} natives
 * @param {string} kind
 * @param {any} value
 * @param {number} most how many are read; the rest is counted
 * @returns {{items: unknown[], total: number}}
 */
function readEntries(natives, kind, value, most) {
  const { forEach, sizeOf } = natives.readers;
  /** @type {unknown[]} */
  const items = [];
  let given = 0;
  let total = -1;
  /** @param {unknown} item @param {unknown} key */
  const collect = (item, key) => {
    if (given++ < most) appendTo(natives, items, kind === 'Set' ? item : [key, item]);
    // How many there are is known: the rest need not be walked over.
    else if (total >= 0) throw items;
  };
  try {
    if (sizeOf[kind] !== undefined) total = natives.apply(sizeOf[kind], value, []);
    natives.apply(forEach[kind], value, [collect]);
  } catch (thrown) {
    if (thrown !== items) natives.apply(value.forEach, value, [collect]);
  }
  return { items, total: total >= 0 ? total : given };
}
