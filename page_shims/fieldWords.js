// @ts-check
/**
 * What says of a field whether it is for secrets: its type, its `autocomplete`, and what it is called. One that was for
 * a password when it was looked at stays one, though its page may show it in plain by now.
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
  const { passwords } = natives.named;
  if (natives.apply(natives.hands.matches, element, ['[type=password i]'])) passwords.set(element, true);
  if (passwords.get(element)) asked[0] = 'password';
  return asked;
}
