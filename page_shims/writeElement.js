// @ts-check
/**
 * Write an element: the uid by which it can be named again, and what it looks like.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {Extract<Shape, {is: 'element'}>} shape
 * @returns {string}
 */
function writeElement(natives, sheet, shape) {
  const start = spend(sheet, `{"uid":"${shape.uid}","describe":`);
  /** @param {string} said */
  const write = (said) => quoteText(natives, said);
  return start + writeText(natives, sheet, shape.text, sheet.bounds.stringChars, write) + spend(sheet, '}');
}
