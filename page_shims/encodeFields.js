// @ts-check
/**
 * Write an object: what its class says of it, then its own fields.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {Extract<Shape, {is: 'fields'}>} shape
 * @param {Place} place
 * @returns {string}
 */
function encodeFields(natives, sheet, shape, place) {
  const { owner, heads, keys } = shape;
  let text = spend(sheet, '{');
  for (let i = 0; i < heads.length; i++) {
    const head = /** @type {Head} */ (heads[i]);
    text += spend(sheet, `${i > 0 ? ',' : ''}"${head.key}":`);
    text += encodeHead(natives, sheet, head, placeIn(place, head.key));
  }
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 || heads.length > 0) text += spend(sheet, ',');
    if (i >= sheet.bounds.keys || isFull(sheet)) {
      text += spend(sheet, `"[more keys]":${keys.length - i}`);
      break;
    }
    const key = /** @type {string} */ (keys[i]);
    const named = fieldKey(natives, shape, i);
    /** @param {string} said @param {boolean} whole */
    const write = (said, whole) => quoteText(natives, whole ? named : said);
    text += writeText(natives, sheet, key, sheet.bounds.stringChars, write) + spend(sheet, ':');
    text += encodeMember(natives, sheet, owner, key, placeIn(place, named));
  }
  return text + spend(sheet, '}');
}
