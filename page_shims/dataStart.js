// @ts-check
/**
 * Where the data of a `data:` URL in base64 begins, 0 where a string is no such URL.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @returns {number}
 */
function dataStart(natives, text) {
  /** @param {number} from @param {number} to */
  const slice = (from, to) => natives.apply(natives.sliceString, text, [from, to]);
  if (slice(0, 5) !== 'data:') return 0;
  for (let i = 5; i < 200 && i < text.length; i++) {
    if (text[i] === ',') return slice(i - 7, i) === ';base64' ? i + 1 : 0;
  }
  return 0;
}
