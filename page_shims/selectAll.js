// @ts-check
/**
 * Select all that is in the focused field, as a person does before they write something else.
 * Runs: main world. Listeners of the page run.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element
 * @returns {void}
 */
function selectAll(inside, given) {
  const { natives } = inside;
  const { hands } = natives;
  // Of an element in a document that it was moved to, the kit's own document is another one.
  const owner = natives.apply(hands.ownerDocument, given[0], []);
  natives.apply(hands.execCommand, owner, ['selectAll', false, '']);
}
