// @ts-check
/**
 * Keep the built-ins by which values are read: what they give comes from inside an object, whatever its prototype
 * says. One that is missing is undefined, and reads nothing.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Natives}
 */
function saveReaders() {
  const typedArray = Reflect.getPrototypeOf(Uint8Array.prototype);
  const regexp = prototypeNamed('RegExp');
  return {
    __proto__: null,
    Uint8Array,
    hasOwn: Object.hasOwn,
    isPrototypeOf: Object.prototype.isPrototypeOf,
    objectToString: Object.prototype.toString,
    toStringTag: Symbol.toStringTag,
    mapGet: Map.prototype.get,
    mapSet: Map.prototype.set,
    mapDelete: Map.prototype.delete,
    dateTime: Date.prototype.getTime,
    dateToISO: Date.prototype.toISOString,
    regexpSource: getterOf(regexp, 'source'),
    regexpFlags: [
      { letter: 'd', read: getterOf(regexp, 'hasIndices') },
      { letter: 'g', read: getterOf(regexp, 'global') },
      { letter: 'i', read: getterOf(regexp, 'ignoreCase') },
      { letter: 'm', read: getterOf(regexp, 'multiline') },
      { letter: 's', read: getterOf(regexp, 'dotAll') },
      { letter: 'u', read: getterOf(regexp, 'unicode') },
      { letter: 'v', read: getterOf(regexp, 'unicodeSets') },
      { letter: 'y', read: getterOf(regexp, 'sticky') },
    ],
    href: getterOf(prototypeNamed('URL'), 'href'),
    symbolName: getterOf(Symbol.prototype, 'description'),
    typedName: getterOf(typedArray, Symbol.toStringTag),
    typedLength: getterOf(typedArray, 'length'),
    bufferBytes: getterOf(ArrayBuffer.prototype, 'byteLength'),
    viewBuffer: getterOf(DataView.prototype, 'buffer'),
    viewStart: getterOf(DataView.prototype, 'byteOffset'),
    viewBytes: getterOf(DataView.prototype, 'byteLength'),
    blobSize: getterOf(prototypeNamed('Blob'), 'size'),
    blobType: getterOf(prototypeNamed('Blob'), 'type'),
    fileName: getterOf(prototypeNamed('File'), 'name'),
    windowSelf: getterOf(globalThis, 'window'),
    nodeType: getterOf(prototypeNamed('Node'), 'nodeType'),
    nodeName: getterOf(prototypeNamed('Node'), 'nodeName'),
    nodeValue: getterOf(prototypeNamed('Node'), 'nodeValue'),
    firstChild: getterOf(prototypeNamed('Node'), 'firstChild'),
    nextSibling: getterOf(prototypeNamed('Node'), 'nextSibling'),
    parentNode: getterOf(prototypeNamed('Node'), 'parentNode'),
    documentURL: getterOf(prototypeNamed('Document'), 'URL'),
    localName: getterOf(prototypeNamed('Element'), 'localName'),
    getAttribute: prototypeNamed('Element')?.getAttribute,
    forEach: {
      __proto__: null,
      FormData: prototypeNamed('FormData')?.forEach,
      Headers: prototypeNamed('Headers')?.forEach,
      Map: Map.prototype.forEach,
      Set: Set.prototype.forEach,
      URLSearchParams: prototypeNamed('URLSearchParams')?.forEach,
    },
    sizeOf: {
      __proto__: null,
      Map: getterOf(Map.prototype, 'size'),
      Set: getterOf(Set.prototype, 'size'),
    },
    valueOf: {
      __proto__: null,
      BigInt: BigInt.prototype.valueOf,
      Boolean: Boolean.prototype.valueOf,
      Number: Number.prototype.valueOf,
      String: String.prototype.valueOf,
      Symbol: Symbol.prototype.valueOf,
    },
  };
}
