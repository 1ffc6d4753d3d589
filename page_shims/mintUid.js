// @ts-check
/**
 * The uid of an element: the same each time, and only of this document. The last 10,000 of a document count.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {object} element
 * @returns {string}
 */
function mintUid(natives, element) {
  /** @type {NamedElements} */
  const named = natives.named;
  const { mark, uids, elements, WeakRef } = named;
  const known = uids.get(element);
  if (known !== undefined && elements.get(known) !== undefined) return known;
  const number = ++named.minted;
  const uid = `e${number}-${mark}`;
  uids.set(element, uid);
  elements.set(uid, new WeakRef(element));
  elements.delete(`e${number - 10000}-${mark}`);
  return uid;
}
