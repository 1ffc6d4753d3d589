// @ts-check
/**
 * Find the form that is the tool of this name, or of any with null, if one outside of shadow trees is.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string | null} name
 * @returns {Element | null}
 */
function findForm(natives, name) {
  const forms = natives.apply(natives.querySelectorAll, natives.window.document, ['form[toolname][tooldescription]']);
  const count = natives.apply(natives.lengthOfNodes, forms, []);
  for (let i = 0; i < count; i++) {
    if (name === null || natives.apply(natives.getAttribute, forms[i], ['toolname']) === name) return forms[i];
  }
  return null;
}
