// @ts-check
/**
 * Follow a path into a result. Where it ends too early, `missing` says where, and what is there.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {unknown} root
 * @param {ValueBounds} bounds
 * @returns {{value: unknown, pointer: string, missing: string}}
 */
function selectPart(natives, root, bounds) {
  if (bounds.select.length === 0) return { value: root, pointer: '', missing: '' };
  const sheet = openSheet(natives, bounds);
  let value = root;
  let pointer = '';
  for (let i = 0; i < bounds.select.length; i++) {
    const token = /** @type {string} */ (bounds.select[i]);
    const part = partAt(natives, sheet, value, token);
    const next = `${pointer}/${escapeToken(natives, token)}`;
    if (part.there !== '') {
      const found = pointer === '' ? 'the result' : natives.stringify(pointer);
      return { value: null, pointer, missing: `nothing at ${natives.stringify(next)}: ${found} is ${part.there}` };
    }
    value = part.value;
    pointer = next;
  }
  return { value, pointer, missing: '' };
}
