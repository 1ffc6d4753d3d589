// @ts-check
/**
 * Describe what a tool returned, or the part of it that is wanted. Only pictures and binary data take their time.
 * Runs: main world. As `encodeValue`; none of it can make this throw.
 * @param {Natives} natives
 * @param {unknown} result
 * @param {ValueBounds} bounds
 * @returns {Ending | Promise<Ending>}
 */
function describeResult(natives, result, bounds) {
  try {
    const { value, pointer, missing } = selectPart(natives, result, bounds);
    if (missing !== '') return { __proto__: null, how: 'no such part', kind: 'string', text: missing };
    if (value === undefined) return { __proto__: null, how: 'completed', kind: 'none', text: '' };
    const { media } = bounds;
    if (media !== undefined) {
      const kind = binaryKind(natives, value, media);
      if (kind !== '') return describeBinary(natives, kind, value, media);
    }
    if (typeof value === 'string') {
      /** @param {string} said */
      const write = (said) => natives.apply(natives.wellFormed, said, []);
      // No character takes more on the wire, so that none has to be looked at.
      if (value.length * 6 <= bounds.chars) return { __proto__: null, how: 'completed', kind: 'string', text: write(value) };
      const sheet = openSheet(natives, bounds);
      const text = writeText(natives, sheet, value, bounds.chars, write);
      return { __proto__: null, how: 'completed', kind: 'string', text };
    }
    return { __proto__: null, how: 'completed', kind: 'json', text: encodeValue(natives, value, bounds, pointer) };
  } catch (thrown) {
    const text = natives.stringify(`[threw ${thrownWords(natives, thrown)}]`);
    return { __proto__: null, how: 'completed', kind: 'json', text };
  }
}
