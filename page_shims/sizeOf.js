// @ts-check
/**
 * The size of a picture that is in memory.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {BinaryKind} kind
 * @param {unknown} picture
 * @returns {PictureSize}
 */
function sizeOf(natives, kind, picture) {
  const { width, height } = natives.pictures.sizes[kind];
  return { __proto__: null, width: natives.apply(width, picture, []), height: natives.apply(height, picture, []) };
}
