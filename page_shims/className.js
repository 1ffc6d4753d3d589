// @ts-check
/**
 * The name of an object's class, '(anonymous)' where it has none that can be read.
 * Runs: main world. A getter on `constructor` or its `name` runs; one that throws counts as no name.
 * @param {Natives} natives
 * @param {any} value
 * @returns {string}
 */
function className(natives, value) {
  try {
    return functionName(natives, value.constructor);
  } catch {
    return '(anonymous)';
  }
}
