// @ts-check
/**
 * Write what one entry says that comes before the own fields.
 * Runs: main world. As `encodeValue`.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {Head} head
 * @param {Place} place
 * @returns {string}
 */
function encodeHead(natives, sheet, head, place) {
  switch (head.is) {
    case 'text':
      return writeText(natives, sheet, head.value, sheet.bounds.stringChars, (said) => quoteText(natives, said));
    case 'list':
      return encodeList(natives, sheet, head.value, head.length, place);
    case 'value':
      return encodeAny(natives, sheet, head.value, place);
    case 'member':
      return encodeMember(natives, sheet, head.value, head.key, place);
  }
}
