// @ts-check
/**
 * Name the elements among some nodes, and say of those that a person writes into what they are for.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} nodes
 * @returns {(NamedElement | null)[]}
 */
function nameElements(inside, nodes) {
  const { natives, appendTo, mintUid } = inside;
  const { localName, nodeType } = natives.readers;
  /** @type {(NamedElement | null)[]} */
  const named = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    /** @type {NamedElement | null} */
    let entry = null;
    if (natives.apply(nodeType, node, []) === 1) {
      const tag = natives.apply(localName, node, []);
      const isField = tag === 'input' || tag === 'textarea';
      entry = { __proto__: null, uid: mintUid(natives, node), field: isField ? fieldWords(natives, node) : null };
    }
    appendTo(natives, named, entry);
  }
  return named;
}
