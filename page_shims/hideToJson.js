// @ts-check
/**
 * Let a value from JSON be written as JSON again whatever `toJSON` a page has put on the prototypes.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {any} value
 * @returns {void}
 */
function hideToJson(natives, value) {
  if (value === null || typeof value !== 'object') return;
  if (natives.propertyOf(value, 'toJSON') === undefined) {
    natives.defineProperty(value, 'toJSON', { __proto__: null, value: undefined });
  }
  const keys = natives.ownKeys(value);
  for (let i = 0; i < keys.length; i++) hideToJson(natives, value[keys[i]]);
}
