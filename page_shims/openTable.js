// @ts-check
/**
 * A Map whose methods are its own, out of reach of what a page does to Map.prototype.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {ObjectTable}
 */
function openTable(natives) {
  const table = new natives.Map();
  natives.defineProperty(table, 'get', { __proto__: null, value: natives.readers.mapGet });
  natives.defineProperty(table, 'set', { __proto__: null, value: natives.readers.mapSet });
  natives.defineProperty(table, 'delete', { __proto__: null, value: natives.readers.mapDelete });
  return table;
}
