// @ts-check
/**
 * What an error carries besides its name, message and stack, as JSON text: cause, errors, own fields. '' for nothing.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {object} error
 * @param {ValueBounds} bounds
 * @returns {string}
 */
function besidesMessage(natives, error, bounds) {
  const sheet = openSheet(natives, bounds);
  const about = classOf(natives, sheet.classes, error, natives.prototypeOf(error));
  const shape = readError(natives, error, about, bounds.stacks);
  /** @type {Head[]} */
  const heads = [];
  for (let i = 1; i < shape.heads.length; i++) appendTo(natives, heads, /** @type {Head} */ (shape.heads[i]));
  if (heads.length + shape.keys.length === 0) return '';
  shape.heads = heads;
  const place = topPlace('');
  place.open = true;
  sheet.seen.set(error, place);
  return encodeFields(natives, sheet, shape, place);
}
