// @ts-check
/**
 * Decide how a DOM node is written: an element by its uid, its tag, what names it, and the beginning of its text.
 * Runs: main world. Throws where it only looks like a node.
 * @param {Natives} natives
 * @param {any} node
 * @returns {Shape}
 */
function describeNode(natives, node) {
  const { documentURL, getAttribute, localName, nodeName, nodeType } = natives.readers;
  /** @param {Function} reader */
  const read = (reader) => natives.apply(reader, node, []);
  const type = read(nodeType);
  if (type === 9) return markerShape('document', read(documentURL));
  const text = nodeText(natives, node);
  const quoted = text === '' ? '' : ` “${text}”`;
  if (type !== 1) return markerShape('node', `${read(nodeName)}${quoted}`);
  const telling = ['id', 'class', 'name', 'type', 'href', 'role', 'aria-label'];
  let tag = read(localName);
  for (let i = 0; i < telling.length; i++) {
    const given = natives.apply(getAttribute, node, [telling[i]]);
    if (given !== null && given !== '') tag += ` ${telling[i]}=${attributeText(natives, given)}`;
  }
  return { __proto__: null, is: 'element', uid: mintUid(natives, node), text: `<${tag}>${quoted}` };
}
