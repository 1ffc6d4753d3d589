// @ts-check
/**
 * Guess which built-in of another frame an object is, '' for none; who reads it finds out whether that is true.
 * Runs: main world. A getter of the value's class runs; one that throws counts as no answer.
 * @param {Natives} natives
 * @param {any} value
 * @returns {string}
 */
function foreignKind(natives, value) {
  const { readers } = natives;
  try {
    if (typeof value.nodeType === 'number') return 'Node';
    if (natives.apply(readers.typedName, value, []) !== undefined) return 'TypedArray';
    const kind = natives.apply(natives.sliceString, natives.apply(readers.objectToString, value, []), [8, -1]);
    switch (kind) {
      case 'Array':
      case 'ArrayBuffer':
      case 'Blob':
      case 'DataView':
      case 'Date':
      case 'Error':
      case 'File':
      case 'FormData':
      case 'Headers':
      case 'Map':
      case 'Promise':
      case 'RegExp':
      case 'Set':
      case 'URL':
      case 'URLSearchParams':
      case 'Window':
        return kind;
    }
  } catch {
    // The answer below says all there is to say.
  }
  return '';
}
