// @ts-check
/**
 * Keep which prototype makes an object a built-in of which kind. A page can rename or replace a class; the
 * prototype that its objects have stays this one.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Map<object, string>}
 */
function saveKinds() {
  const kinds = new Map();
  /** @param {string} kind @param {object | null} prototype */
  const keep = (kind, prototype = prototypeNamed(kind)) => {
    if (prototype !== null) kinds.set(prototype, kind);
  };
  keep('TypedArray', Reflect.getPrototypeOf(Uint8Array.prototype));
  keep('Array');
  keep('ArrayBuffer');
  keep('BigInt');
  keep('Blob');
  keep('Boolean');
  keep('DataView');
  keep('Date');
  keep('Error');
  keep('File');
  keep('FormData');
  keep('Headers');
  keep('Map');
  keep('Node');
  keep('Number');
  keep('Promise');
  keep('RegExp');
  keep('Set');
  keep('String');
  keep('Symbol');
  keep('URL');
  keep('URLSearchParams');
  keep('Window');
  return kinds;
}
