// @ts-check
/**
 * Whether anything matches a CSS selector, and is shown. Of many matches, the first hundred count.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the selector
 * @returns {'shown' | 'hidden' | 'none' | 'invalid'}
 */
function matchSelector(inside, given) {
  const { natives } = inside;
  const { checkVisibility, nodeAt } = natives.hands;
  let found;
  try {
    found = natives.apply(natives.querySelectorAll, natives.window.document, [given[0]]);
  } catch {
    return 'invalid';
  }
  const count = natives.apply(natives.lengthOfNodes, found, []);
  const how = { __proto__: null, visibilityProperty: true };
  for (let i = 0; i < count && i < 100; i++) {
    if (natives.apply(checkVisibility, natives.apply(nodeAt, found, [i]), [how])) return 'shown';
  }
  return count === 0 ? 'none' : 'hidden';
}
