// @ts-check
/**
 * Put elements into the arguments of a call where an agent has named them. Null where all are there; else how the call
 * ends, with the number of the place that has none.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {object} given parsed JSON; what is named for certain is replaced, else what is found
 * @param {ElementPlace[]} places
 * @returns {Ending | null}
 */
function placeElements(natives, given, places) {
  for (let i = 0; i < places.length; i++) {
    const { path, by, name, certain } = /** @type {ElementPlace} */ (places[i]);
    let value = null;
    let why = by === 'uid' ? 'gone' : 'no match';
    try {
      value = elementAt(natives, by, name);
    } catch {
      why = 'no selector';
    }
    if (value === null) {
      if (certain) return { __proto__: null, how: 'no such element', kind: 'none', text: `${i}`, name: why };
      continue;
    }
    /** @type {any} */
    let owner = given;
    for (let step = 0; step < path.length - 1; step++) owner = owner[/** @type {string} */ (path[step])];
    const key = /** @type {string} */ (path[path.length - 1]);
    natives.defineProperty(owner, key, { __proto__: null, value });
  }
  return null;
}
