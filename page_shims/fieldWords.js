// @ts-check
/**
 * What says of a field whether it is for secrets: its type, its `autocomplete`, and what it is called.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {any} element
 * @returns {string[]}
 */
function fieldWords(natives, element) {
  const asked = ['type', 'autocomplete', 'name', 'id', 'aria-label', 'placeholder'];
  for (let i = 0; i < asked.length; i++) {
    const word = natives.apply(natives.getAttribute, element, [asked[i]]);
    asked[i] = word === null ? '' : natives.apply(natives.sliceString, word, [0, 200]);
  }
  return asked;
}
