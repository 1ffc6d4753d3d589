// @ts-check
/**
 * Choose options of a `select` by value or label, and no others, and say so to its page.
 * Runs: main world. Listeners of the page run.
 * @param {Inside} inside
 * @param {ArrayLike<any>} given the element, and what is wanted as a JSON list
 * @returns {Choice}
 */
function chooseOptions(inside, given) {
  const { natives, appendTo } = inside;
  const element = given[0];
  const wanted = natives.parse(given[1]);
  const { hands } = natives;
  /** @param {Function} reader @param {any} owner @param {any[]} [words] */
  const read = (reader, owner, words = []) => natives.apply(reader, owner, words);
  const options = read(hands.options, element);
  const count = read(hands.length, options);
  const isMultiple = read(hands.multiple, element);
  /** @type {any[]} */
  const chosen = [];
  /** @type {Choice} */
  const choice = { __proto__: null, fault: '', wanted: '', labels: [] };
  /** @param {Choice['fault']} fault @param {string} word */
  const refuse = (fault, word) => ({ ...choice, __proto__: null, fault, wanted: word, labels: optionLabels(inside, options, count) });
  if (wanted.length > 1 && !isMultiple) return refuse('one only', '');
  for (let i = 0; i < wanted.length; i++) {
    const found = findOption(natives, options, count, wanted[i]);
    if (found === null) return refuse('none', wanted[i]);
    if (read(hands.matches, found, [':disabled'])) return refuse('disabled', wanted[i]);
    appendTo(natives, chosen, found);
  }
  let changed = false;
  for (let i = 0; i < count && i < 10000; i++) {
    const option = read(hands.item, options, [i]);
    let isWanted = false;
    for (let j = 0; j < chosen.length; j++) isWanted ||= chosen[j] === option;
    // Of a list of which one is always chosen, the others let go by themselves.
    if (read(hands.selected, option) === isWanted || (!isWanted && !isMultiple)) continue;
    read(hands.setSelected, option, [isWanted]);
    changed = true;
  }
  if (changed) tellChanged(natives, element);
  for (let i = 0; i < chosen.length; i++) {
    const label = natives.apply(natives.wellFormed, read(hands.optionLabel, chosen[i]), []);
    appendTo(natives, choice.labels, natives.apply(natives.sliceString, label, [0, 200]));
  }
  return choice;
}
