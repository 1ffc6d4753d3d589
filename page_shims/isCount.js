// @ts-check
/**
 * Whether a text is a number of these things, as `counted` writes it.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @param {string} thing
 * @returns {boolean}
 */
function isCount(natives, text, thing) {
  let digits = 0;
  for (; digits < text.length && digits < 20; digits++) {
    const one = /** @type {string} */ (text[digits]);
    if (one < '0' || one > '9') break;
  }
  if (digits === 0) return false;
  const rest = natives.apply(natives.sliceString, text, [digits]);
  return rest === ` ${thing}` || rest === ` ${thing}s`;
}
