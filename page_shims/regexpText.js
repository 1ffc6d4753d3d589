// @ts-check
/**
 * A regular expression as source text.
 * Runs: main world. Throws where it only looks like one.
 * @param {Natives} natives
 * @param {any} value
 * @returns {string}
 */
function regexpText(natives, value) {
  const { regexpFlags, regexpSource } = natives.readers;
  let text = `/${natives.apply(regexpSource, value, [])}/`;
  for (let i = 0; i < regexpFlags.length; i++) {
    const { letter, read } = regexpFlags[i];
    if (read !== undefined && natives.apply(read, value, [])) text += letter;
  }
  return text;
}
