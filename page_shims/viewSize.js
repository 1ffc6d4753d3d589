// @ts-check
/**
 * How large a page's scripts and styles take its window for, in CSS pixels: scrollbars are part of it.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @returns {{__proto__: null, width: number, height: number}}
 */
function viewSize(inside) {
  const { apply, hands, window } = inside.natives;
  return { __proto__: null, width: apply(hands.innerWidth, window, []), height: apply(hands.innerHeight, window, []) };
}
