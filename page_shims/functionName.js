// @ts-check
/**
 * The name of a function or class, '(anonymous)' where it has none that can be read.
 * Runs: main world. A getter on `name` runs; one that throws counts as no name.
 * @param {Natives} natives
 * @param {unknown} value
 * @returns {string}
 */
function functionName(natives, value) {
  try {
    const name = /** @type {any} */ (value).name;
    if (typeof name === 'string' && name !== '') return natives.apply(natives.sliceString, name, [0, 100]);
  } catch {
    // The answer below says all there is to say.
  }
  return '(anonymous)';
}
