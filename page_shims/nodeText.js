// @ts-check
/**
 * The beginning of the text in a node, white space made one space. However large the node, few nodes in it are visited.
 * Runs: main world. Throws where it only looks like a node.
 * @param {Natives} natives
 * @param {any} root
 * @returns {string}
 */
function nodeText(natives, root) {
  const { firstChild, nextSibling, nodeName, nodeType, nodeValue, parentNode } = natives.readers;
  /** @param {Function} reader @param {any} node */
  const read = (reader, node) => natives.apply(reader, node, []);
  let text = '';
  let node = root;
  for (let visited = 0; visited < 200 && text.length <= 60; visited++) {
    const name = read(nodeName, node);
    const isText = name === '#text' || (node === root && read(nodeType, node) !== 1);
    // What is no text separates words.
    const value = isText ? read(nodeValue, node) ?? '' : ' ';
    for (let i = 0; i < value.length && i < 1000 && text.length <= 60; i++) {
      if (value[i] > ' ') text += value[i];
      else if (text !== '' && text[text.length - 1] !== ' ') text += ' ';
    }
    let next = name === 'SCRIPT' || name === 'STYLE' ? null : read(firstChild, node);
    while (next === null && node !== root) {
      next = read(nextSibling, node);
      if (next === null) node = read(parentNode, node);
    }
    if (next === null) break;
    node = next;
  }
  if (text.length > 60) return `${headOf(natives, text, 59)}…`;
  return text[text.length - 1] === ' ' ? headOf(natives, text, text.length - 1) : text;
}
