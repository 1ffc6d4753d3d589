// @ts-check
/**
 * Say in a few words what an object is whose inside is not shown.
 * Runs: main world. Touches no page global.
 * @param {Shape} shape
 * @returns {string}
 */
function shapeWords(shape) {
  if (shape.is === 'list') return `array of ${counted(shape.length, 'item')}`;
  if (shape.is !== 'fields') return 'value';
  const { name } = shape.about;
  return name === '' ? `object with ${counted(shape.keys.length, 'key')}` : name;
}
