// @ts-check
/**
 * Stand in for a tool as a script registers it, so that its `execute` is run through `around`. Each property is read
 * from it when Chromium reads it, and once.
 * Runs: main world. Getters of the tool run.
 * @param {Natives} natives
 * @param {any} tool
 * @param {(name: string) => void} onName
 * @param {(name: unknown, input: unknown, execute: () => unknown) => unknown} around
 * @returns {object}
 */
function wrapTool(natives, tool, onName, around) {
  /** @type {unknown} */
  let name;
  const get = (/** @type {unknown} */ _, /** @type {string} */ key) => {
    const value = tool[key];
    if (key === 'name') {
      name = value;
      if (typeof value === 'string') onName(value);
    }
    if (key !== 'execute' || typeof value !== 'function') return value;
    return (/** @type {unknown[]} */ ...given) => around(name, given[0], () => natives.apply(value, undefined, given));
  };
  return new natives.Proxy({ __proto__: null }, { __proto__: null, get });
}
