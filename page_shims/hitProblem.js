// @ts-check
/**
 * What would get a click instead of an element. Null where that is the element, something in it, or its label where
 * that hands the click on.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element, and the node that is on top where the click would go
 * @returns {{__proto__: null, uid: string, text: string, isAround: boolean} | null} `isAround`: the element is in it
 */
function hitProblem(inside, given) {
  const { natives, describeNode } = inside;
  const element = given[0];
  const { nodeType, parentNode } = natives.readers;
  /** @param {Function | undefined} reader @param {any} node @param {string[]} [words] */
  const read = (reader, node, words = []) => {
    try {
      return natives.apply(reader, node, words) ?? null;
    } catch {
      return null;
    }
  };
  /** @param {any} node */
  const parentOf = (node) => read(parentNode, node) ?? read(natives.hands.host, node);
  let top = null;
  let handsOn = true;
  let node = given[1];
  while (node !== null) {
    if (node === element || (handsOn && read(natives.hands.labelled, node) === element)) return null;
    handsOn &&= !read(natives.hands.matches, node, ['a[href], button, input, select, summary, textarea']);
    if (top === null && read(nodeType, node) === 1) top = node;
    node = parentOf(node);
  }
  if (top === null) return { __proto__: null, uid: '', text: 'something else', isAround: false };
  let around = parentOf(element);
  while (around !== null && around !== top) around = parentOf(around);
  const shape = /** @type {any} */ (describeNode(natives, top));
  return { __proto__: null, uid: shape.uid, text: natives.apply(natives.wellFormed, shape.text, []), isAround: around === top };
}
