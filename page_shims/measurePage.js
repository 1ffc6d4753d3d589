// @ts-check
/**
 * How much there is in a document: its elements, and the characters of its texts.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @returns {{__proto__: null, elements: number, chars: number}}
 */
function measurePage(inside) {
  const { natives } = inside;
  const { document } = natives.window;
  const all = natives.apply(natives.querySelectorAll, document, ['*']);
  const elements = natives.apply(natives.lengthOfNodes, all, []);
  const root = elements === 0 ? null : natives.apply(natives.hands.nodeAt, all, [0]);
  const text = root === null ? '' : natives.apply(natives.hands.textContent, root, []) ?? '';
  return { __proto__: null, elements, chars: text.length };
}
