// @ts-check
/**
 * Write an object or array at its place. One that was written before is named by its first place.
 * Throws the sheet where `noteInsider` does.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {object} value
 * @param {Place} place
 * @returns {string}
 */
function encodeObject(natives, sheet, value, place) {
  /** @type {Place | undefined} */
  const first = sheet.seen.get(value);
  if (first !== undefined) {
    return writeMarker(natives, sheet, first.open ? 'circular' : 'same as', pointerTo(natives, first));
  }
  if (place.depth >= sheet.bounds.depth) return writeMarker(natives, sheet, 'nested', 'too deeply');
  /** @type {Shape} */
  let shape;
  try {
    shape = shapeOf(natives, sheet, value, place);
  } catch (thrown) {
    return writeMarker(natives, sheet, 'threw', thrownWords(natives, thrown));
  }
  if (shape.is === 'marker' || shape.is === 'element') return encodeShape(natives, sheet, shape, place);
  if (sheet.shallow && holdsSome(shape)) return writeMarker(natives, sheet, 'not shown:', shapeWords(shape));
  if (sheet.insiders !== Infinity) noteInsider(sheet, value, shape);
  place.open = true;
  sheet.seen.set(value, place);
  const text = encodeShape(natives, sheet, shape, place);
  place.open = false;
  // What is no object in the answer is said again where it comes again.
  if (text[0] !== '{' && text[0] !== '[') sheet.seen.delete(value);
  return text;
}
