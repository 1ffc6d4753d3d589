// @ts-check
/**
 * Put a backslash into a string that ends as a string does which was cut: "…[5 more characters]".
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @returns {string}
 */
function escapeCut(natives, text) {
  const { length } = text;
  if (length === 0 || text[length - 1] !== ']') return text;
  let start = length - 1;
  while (start > 0 && start > length - 50 && text[start] !== '[') start--;
  const inside = natives.apply(natives.sliceString, text, [start + 1, length - 1]);
  if (text[start] !== '[' || !isCount(natives, inside, 'more character')) return text;
  let dots = start - 1;
  while (dots >= 0 && text[dots] === '\\') dots--;
  if (text[dots] !== '…') return text;
  const head = natives.apply(natives.sliceString, text, [0, start]);
  return `${head}\\${natives.apply(natives.sliceString, text, [start])}`;
}
