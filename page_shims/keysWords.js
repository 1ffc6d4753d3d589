// @ts-check
/**
 * Say which keys an object has, the first of them.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Extract<Shape, {is: 'fields'}>} shape
 * @returns {string}
 */
function keysWords(natives, shape) {
  let words = '';
  let count = 0;
  /** @param {string} key */
  const add = (key) => {
    if (count++ < 20) words += `${words === '' ? '' : ', '}${natives.stringify(clipText(natives, key, 100))}`;
  };
  for (let i = 0; i < shape.heads.length; i++) add(/** @type {Head} */ (shape.heads[i]).key);
  for (let i = 0; i < shape.keys.length && i < 20; i++) add(escapeKey(natives, /** @type {string} */ (shape.keys[i])));
  const more = shape.heads.length + shape.keys.length - 20;
  if (words === '') return 'an object without keys';
  return `an object with the keys ${words}${more > 0 ? ` and ${more} more` : ''}`;
}
