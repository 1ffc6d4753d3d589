// @ts-check
/**
 * Set a field that a person fills with a picker, as one for a date or a colour, and say so to its page. False where it
 * does not take the value.
 * Runs: main world. Listeners of the page run.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element and the value
 * @returns {boolean}
 */
function setControl(inside, given) {
  const { natives } = inside;
  const element = given[0];
  const value = given[1];
  const before = natives.apply(natives.hands.inputValue, element, []);
  natives.apply(natives.hands.setInputValue, element, [value]);
  const now = natives.apply(natives.hands.inputValue, element, []);
  if (now !== value && (now === '' || now === before)) {
    natives.apply(natives.hands.setInputValue, element, [before]);
    return false;
  }
  if (now !== before) tellChanged(natives, element);
  return true;
}
