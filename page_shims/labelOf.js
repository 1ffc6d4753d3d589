// @ts-check
/**
 * The first label of an input. Null where it has none.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element
 * @returns {object | null}
 */
function labelOf(inside, given) {
  const { natives } = inside;
  try {
    return natives.apply(natives.hands.nodeAt, natives.apply(natives.hands.labels, given[0], []), [0]);
  } catch {
    return null; // It is no input, or one without labels, as a hidden one.
  }
}
