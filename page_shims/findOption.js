// @ts-check
/**
 * Find an option by its value, or else by its label. Null where there is none.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {any} options
 * @param {number} count
 * @param {string} wanted
 * @returns {any}
 */
function findOption(natives, options, count, wanted) {
  const { item, optionLabel, optionValue } = natives.hands;
  let labelled = null;
  for (let i = 0; i < count && i < 10000; i++) {
    const option = natives.apply(item, options, [i]);
    if (natives.apply(optionValue, option, []) === wanted) return option;
    if (labelled === null && natives.apply(optionLabel, option, []) === wanted) labelled = option;
  }
  return labelled;
}
