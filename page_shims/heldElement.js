// @ts-check
/**
 * Hold the element that a uid names: itself, or why there is none.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the uid
 * @returns {object | 'gone' | 'detached'}
 */
function heldElement(inside, given) {
  const { natives, elementAt } = inside;
  const element = elementAt(natives, 'uid', given[0]);
  if (element === null) return 'gone';
  return natives.apply(natives.hands.isConnected, element, []) ? element : 'detached';
}
