// @ts-check
/**
 * Write the items of an array.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {any} list
 * @param {number} length how many items there are; a list of ours may hold less, then the rest was cut already
 * @param {Place} place
 * @returns {string}
 */
function encodeList(natives, sheet, list, length, place) {
  const findNext = nextIndex(natives, list, length);
  let text = spend(sheet, '[');
  let written = 0;
  for (let index = 0; index < length; written++) {
    if (written > 0) text += spend(sheet, ',');
    if (written >= sheet.bounds.items || isFull(sheet)) {
      text += writeMarker(natives, sheet, counted(length - index, 'more item'), '');
      break;
    }
    let next;
    try {
      next = findNext(index);
    } catch (thrown) {
      text += writeMarker(natives, sheet, 'threw', thrownWords(natives, thrown));
      break;
    }
    if (next > index) {
      text += writeMarker(natives, sheet, next - index === 1 ? 'hole' : `${next - index} holes`, '');
      index = next;
    } else {
      text += encodeMember(natives, sheet, list, index, placeIn(place, `${index}`));
      index++;
    }
  }
  return text + spend(sheet, ']');
}
