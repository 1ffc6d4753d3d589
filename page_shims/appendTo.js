// @ts-check
/**
 * Append to an array without running anything of the page: `push` and `list[i] = x` obey setters that a page
 * can put on Array.prototype, a defined property does not.
 * Runs: main world. Touches no page global.
 * @template T
 * @param {Natives} natives
 * @param {T[]} list
 * @param {T} item
 * @returns {void}
 */
function appendTo(natives, list, item) {
  natives.defineProperty(list, list.length, {
    __proto__: null,
    value: item,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
