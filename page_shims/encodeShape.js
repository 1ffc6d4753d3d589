// @ts-check
/**
 * Write what an object holds.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {Shape} shape
 * @param {Place} place
 * @returns {string}
 */
function encodeShape(natives, sheet, shape, place) {
  switch (shape.is) {
    case 'marker':
      return writeMarker(natives, sheet, shape.word, shape.content);
    case 'element':
      return writeElement(natives, sheet, shape);
    case 'value': {
      const { above, key } = place;
      const inside = { __proto__: null, above, key, depth: place.depth + 1, open: false, asked: true };
      return encodeAny(natives, sheet, shape.value, inside);
    }
    case 'list':
      return encodeList(natives, sheet, shape.list, shape.length, place);
    case 'fields':
      if (shape.instance && sheet.insiders === Infinity) return encodeInstance(natives, sheet, shape, place);
      return encodeFields(natives, sheet, shape, place);
  }
}
