// @ts-check
/**
 * The JSON Pointer of a place, counted from the whole result. Long keys are cut.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Place} place
 * @returns {string}
 */
function pointerTo(natives, place) {
  let pointer = '';
  /** @type {Place | null} */
  let at = place;
  for (; at.above !== null; at = at.above) pointer = `/${escapeToken(natives, at.key)}${pointer}`;
  return `${at.key}${pointer}`;
}
