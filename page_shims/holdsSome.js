// @ts-check
/**
 * Whether an object has anything in it.
 * Runs: main world. Touches no page global.
 * @param {Shape} shape
 * @returns {boolean}
 */
function holdsSome(shape) {
  if (shape.is === 'list') return shape.length > 0;
  return shape.is === 'fields' && shape.heads.length + shape.keys.length > 0;
}
