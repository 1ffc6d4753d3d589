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
  const { hands } = natives;
  const element = given[0];
  const value = given[1];
  const type = natives.apply(hands.type, element, []);
  const before = natives.apply(hands.inputValue, element, []);
  natives.apply(hands.setInputValue, element, [value]);
  const now = natives.apply(hands.inputValue, element, []);
  // What is none becomes the middle of a range, black as a colour, and nothing elsewhere.
  const isNone = type === 'range' ? value === '' || +value - +value !== 0 : now === (type === 'color' ? '#000000' : '');
  if (now !== value && isNone) {
    natives.apply(hands.setInputValue, element, [before]);
    return false;
  }
  if (now !== before) tellChanged(natives, element);
  return true;
}
