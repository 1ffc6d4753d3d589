// @ts-check
/**
 * The first labels of the options that there are.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @param {any} options
 * @param {number} count
 * @returns {string[]}
 */
function optionLabels(inside, options, count) {
  const { natives, appendTo } = inside;
  /** @type {string[]} */
  const labels = [];
  for (let i = 0; i < count && i < 20; i++) {
    const option = natives.apply(natives.hands.item, options, [i]);
    const label = natives.apply(natives.wellFormed, natives.apply(natives.hands.optionLabel, option, []), []);
    appendTo(natives, labels, natives.apply(natives.sliceString, label, [0, 100]));
  }
  return labels;
}
