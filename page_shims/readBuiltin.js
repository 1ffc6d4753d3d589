// @ts-check
/**
 * Decide how a built-in is written, by what is inside of it. Null where it only looks like one.
 * Runs: main world. Getters of errors run.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {any} value
 * @param {ClassInfo} about
 * @returns {Shape | null}
 */
function readBuiltin(natives, sheet, value, about) {
  const { readers } = natives;
  /** @param {Function} reader */
  const read = (reader) => natives.apply(reader, value, []);
  const { kind } = about;
  try {
    switch (kind) {
      case 'BigInt':
      case 'Boolean':
      case 'Number':
      case 'String':
      case 'Symbol':
        return { __proto__: null, is: 'value', value: read(readers.valueOf[kind]) };
      case 'Blob':
      case 'File': {
        const bytes = `${read(readers.blobSize)} bytes`;
        const data = read(readers.blobType) === '' ? bytes : `${read(readers.blobType)}, ${bytes}`;
        return kind === 'Blob' ? markerShape('blob', data) : markerShape('file', `${read(readers.fileName)}, ${data}`);
      }
      case 'Date': {
        const time = read(readers.dateTime);
        return markerShape('date', time === time ? read(readers.dateToISO) : 'invalid');
      }
      case 'Error':
        return readError(natives, value, about, sheet.bounds.stacks);
      case 'FormData':
      case 'Headers':
      case 'Map':
      case 'Set':
      case 'URLSearchParams': {
        const { items, total } = readEntries(natives, kind, value, sheet.bounds.items);
        return fieldsShape(natives, value, about, kind, [makeHead(`[${kind}]`, 'list', items, total)]);
      }
      case 'ArrayBuffer':
      case 'DataView':
      case 'TypedArray':
        return readBinary(natives, value, about);
      case 'Node':
        return describeNode(natives, value);
      case 'Promise':
        return markerShape('promise', '');
      case 'RegExp':
        return markerShape('regexp', regexpText(natives, value));
      case 'URL':
        return markerShape('url', read(readers.href));
      case 'Window':
        return read(readers.windowSelf) === value ? markerShape('Window', '') : null;
      default:
        return null;
    }
  } catch {
    // It takes long to find that out, so a class of such objects is not tried without end.
    if (++about.fakes > 50) about.kind = '';
    return null;
  }
}
