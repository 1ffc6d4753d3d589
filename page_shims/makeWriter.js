// @ts-check
/**
 * Count text against a limit, and write strings as JSON. Both throw the string 'too large' beyond the limit.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {number} chars
 * @returns {{spend: (text: string) => string, quote: (text: string) => string}}
 */
function makeWriter(natives, chars) {
  let spent = 0;
  /** @param {string} text */
  const spend = (text) => {
    spent += text.length;
    if (spent > chars) throw 'too large';
    return text;
  };
  /** @param {string} text */
  const quote = (text) => spend(natives.stringify(natives.apply(natives.wellFormed, text, [])));
  return { spend, quote };
}
