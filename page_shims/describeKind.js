// @ts-check
/**
 * Say in a few words what a value is, for a person who expected another one. Runs no code of the page.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {unknown} value
 * @returns {string}
 */
function describeKind(natives, value) {
  if (value === null) return 'null';
  if (natives.isArray(value)) return 'an array';
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'object':
      return 'an object';
    case 'function':
      return 'a function';
    case 'string':
      return `the string ${natives.stringify(natives.apply(natives.sliceString, value, [0, 40]))}`;
    case 'number':
    case 'boolean':
      return `the ${typeof value} ${value}`;
    default:
      return `a ${typeof value}`;
  }
}
