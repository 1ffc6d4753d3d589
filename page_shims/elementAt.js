// @ts-check
/**
 * Find an element that an agent has named. Null where there is none.
 * Runs: main world. Throws where the selector is none. Touches no page global.
 * @param {Natives} natives
 * @param {ElementPlace['by']} by
 * @param {string} name a uid, or a CSS selector
 * @returns {object | null}
 */
function elementAt(natives, by, name) {
  if (by === 'selector') return natives.apply(natives.querySelector, natives.window.document, [name]);
  /** @type {NamedElements} */
  const { elements, deref } = natives.named;
  const reference = elements.get(name);
  return reference === undefined ? null : natives.apply(deref, reference, []) ?? null;
}
