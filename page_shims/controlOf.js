// @ts-check
/**
 * What an element is to somebody who wants to act on it, and what it holds.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element
 * @returns {Control}
 */
function controlOf(inside, given) {
  const { natives } = inside;
  const element = given[0];
  const { hands, readers } = natives;
  /** @param {Function} reader */
  const read = (reader) => natives.apply(reader, element, []);
  /** @param {string} selector */
  const matches = (selector) => natives.apply(hands.matches, element, [selector]);
  const tag = read(readers.localName);
  /** @type {Control} */
  const control = {
    __proto__: null,
    kind: 'other',
    type: '',
    disabled: matches(':disabled, [aria-disabled="true" i]'),
    readOnly: false,
    checked: false,
    value: '',
    field: null,
  };
  // An element of another namespace may have the same name.
  if (tag === 'input' && matches('input')) {
    try {
      control.type = read(hands.type);
      control.checked = read(hands.checked);
      control.value = read(hands.inputValue);
      control.kind = 'input';
    } catch {
      return control;
    }
  } else if (tag === 'textarea') {
    try {
      control.value = read(hands.areaValue);
      control.kind = 'textarea';
    } catch {
      return control;
    }
  } else if (tag === 'select' || tag === 'option' || tag === 'area') {
    control.kind = tag;
  } else {
    try {
      if (read(hands.isEditable)) {
        control.kind = 'editable';
        control.value = read(hands.innerText) ?? '';
      }
    } catch {
      return control;
    }
  }
  if (control.kind === 'input' || control.kind === 'textarea') {
    control.readOnly = matches('[readonly]');
    control.field = fieldWords(natives, element);
  }
  control.value = natives.apply(natives.wellFormed, natives.apply(natives.sliceString, control.value, [0, 100000]), []);
  return control;
}
