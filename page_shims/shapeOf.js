// @ts-check
/**
 * Decide how an object is written.
 * Runs: main world. Traps and `toJSON` of the value run, and may throw.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {any} value
 * @param {Place} place
 * @returns {Shape}
 */
function shapeOf(natives, sheet, value, place) {
  const prototype = natives.prototypeOf(value);
  // That of another origin has no prototype for us, and refuses most questions.
  if (prototype === null && isWindow(natives, value)) return markerShape('Window', '');
  const about = classOf(natives, sheet.classes, value, prototype);
  const plain = place.asked ? value : jsonForm(natives, value, about, place.key);
  if (plain !== value) return { __proto__: null, is: 'value', value: plain };
  if (natives.isArray(value)) {
    const { length } = value;
    return { __proto__: null, is: 'list', list: value, length: length > 0 ? length : 0 };
  }
  const builtin = about.kind === '' ? null : readBuiltin(natives, sheet, value, about);
  return builtin ?? fieldsShape(natives, value, about, '', []);
}
