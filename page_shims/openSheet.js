// @ts-check
/**
 * Begin an encoding: nothing is written, nothing is seen.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {ValueBounds} bounds
 * @returns {Sheet}
 */
function openSheet(natives, bounds) {
  return {
    __proto__: null,
    bounds,
    room: bounds.chars,
    nodes: bounds.nodes,
    seen: openTable(natives),
    classes: openTable(natives),
    noted: null,
    insiders: Infinity,
    insiderLimit: bounds.insiders,
    insideClasses: 0,
    instances: 0,
    shallow: false,
  };
}
