// @ts-check
/**
 * Decide how a typed array, a buffer or a view is written: by its length and its first elements.
 * Runs: main world. Throws where it only looks like one.
 * @param {Natives} natives
 * @param {any} value
 * @param {ClassInfo} about
 * @returns {Shape}
 */
function readBinary(natives, value, about) {
  const { Uint8Array, bufferBytes, typedLength, typedName, viewBuffer, viewBytes, viewStart } = natives.readers;
  /** @param {Function} reader */
  const read = (reader) => natives.apply(reader, value, []);
  let elements = value;
  let label = about.kind;
  let length = 0;
  switch (about.kind) {
    case 'TypedArray':
      label = read(typedName);
      length = read(typedLength);
      break;
    case 'ArrayBuffer':
      length = read(bufferBytes);
      elements = length > 0 ? new Uint8Array(value, 0, length < 100 ? length : 100) : [];
      break;
    default:
      length = read(viewBytes);
      elements = new Uint8Array(read(viewBuffer), read(viewStart), length < 100 ? length : 100);
  }
  /** @type {unknown[]} */
  const first = [];
  for (let i = 0; i < length && i < 100; i++) appendTo(natives, first, elements[i]);
  const entry = makeHead(`[${label}]`, 'value', { __proto__: null, length, head: first });
  const instance = about.name !== label;
  const heads = instance ? [makeHead('[class]', 'text', about.name), entry] : [entry];
  return { __proto__: null, is: 'fields', owner: value, heads, keys: [], about, instance };
}
