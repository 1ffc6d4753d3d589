// @ts-check
/**
 * Find the part of a value that its answer would have under a key. `there` is '' where there is one; else it says what
 * there is.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {unknown} value
 * @param {string} key as the answer writes it
 * @returns {{value: any, there: string}}
 */
function partAt(natives, sheet, value, key) {
  const { hasOwn } = natives.readers;
  const place = topPlace('');
  try {
    let shape = value !== null && typeof value === 'object' ? shapeOf(natives, sheet, value, place) : null;
    while (shape !== null && shape.is === 'value') {
      value = shape.value;
      place.asked = true;
      shape = value !== null && typeof value === 'object' ? shapeOf(natives, sheet, value, place) : null;
    }
    if (shape === null) return { value, there: describeKind(natives, value) };
    if (shape.is === 'marker') return { value, there: `[${shape.word} ${clipText(natives, shape.content, 100)}]` };
    if (shape.is === 'element') {
      if (key === 'uid') return { value: shape.uid, there: '' };
      if (key === 'describe') return { value: shape.text, there: '' };
      return { value, there: `an element, ${shape.text}` };
    }
    if (shape.is === 'list') {
      if (`${+key}` === key && hasOwn(shape.list, key)) return { value: shape.list[key], there: '' };
      return { value, there: `an array of ${counted(shape.length, 'item')}` };
    }
    for (let i = 0; i < shape.heads.length; i++) {
      const entry = /** @type {Head} */ (shape.heads[i]);
      if (entry.key === key) return { value: entry.is === 'member' ? entry.value[key] : entry.value, there: '' };
    }
    for (let i = 0; i < shape.keys.length; i++) {
      const own = /** @type {string} */ (shape.keys[i]);
      if (fieldKey(natives, shape, i) === key) return { value: shape.owner[own], there: '' };
    }
    return { value, there: keysWords(natives, shape) };
  } catch (thrown) {
    return { value, there: `a value that threw ${thrownWords(natives, thrown)}` };
  }
}
