// @ts-check
/**
 * Bounds for what is written into the sentence of a failure.
 * Runs: main world. Touches no page global.
 * @returns {ValueBounds}
 */
function thrownBounds() {
  return {
    chars: 4000,
    stringChars: 1000,
    depth: 16,
    nodes: 1000,
    keys: 100,
    items: 100,
    insiders: 100,
    classes: 16,
    stacks: false,
    select: [],
  };
}
