// @ts-check
/**
 * A text, or its head and how much is missing.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @param {number} chars
 * @returns {string}
 */
function clipText(natives, text, chars) {
  if (text.length <= chars) return text;
  const head = headOf(natives, text, chars);
  return `${head}…[${counted(text.length - head.length, 'more character')}]`;
}
