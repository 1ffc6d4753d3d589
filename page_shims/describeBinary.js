// @ts-check
/**
 * Describe a picture or binary data that a tool returned: its bytes in base64, and what there is to know of them; or
 * the problem with it. What the bytes are the bridge finds out by itself. Never rejects.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {BinaryKind} kind
 * @param {any} value
 * @param {MediaBounds} bounds
 * @returns {Promise<Ending>}
 */
async function describeBinary(natives, kind, value, bounds) {
  /** @type {Ending} */
  const ending = { __proto__: null, how: 'completed', kind: 'bytes', text: '', size: 0 };
  try {
    const { pictures, readers } = natives;
    let found;
    if (kind === 'blob' || kind === 'url') {
      const start = kind === 'url' ? dataStart(natives, value) : 0;
      const size = kind === 'url' ? ~~((value.length - start) * 0.75) : natives.apply(readers.blobSize, value, []);
      if (size > bounds.fileBytes) {
        ending.size = size;
        ending.problem = 'too large';
        return ending;
      }
      const bytes =
        kind === 'url'
          ? bytesOf(natives, natives.apply(natives.sliceString, value, [start]))
          : new readers.Uint8Array(await ownPromise(natives, natives.apply(pictures.bufferOf, value, [])));
      found = await ownPromise(natives, showBytes(natives, bytes, bounds));
    } else {
      found = await ownPromise(natives, showCanvas(natives, kind, value, bounds));
    }
    ending.size = natives.apply(readers.typedLength, found.bytes, []);
    ending.text = natives.apply(pictures.toBase64, found.bytes, []);
    ending.width = found.width;
    ending.height = found.height;
    ending.wholeWidth = found.whole?.width ?? 0;
    ending.wholeHeight = found.whole?.height ?? 0;
  } catch (thrown) {
    ending.problem = pictureProblem(natives, thrown);
  }
  return ending;
}
