// @ts-check
/**
 * The name and message of an error. An error that nobody named has its class's name.
 * Runs: main world. Getters of the error run; one that throws counts as no word.
 * @param {Natives} natives
 * @param {any} error
 * @returns {{name: string, message: string}}
 */
function errorWords(natives, error) {
  /** @param {'name' | 'message'} part */
  const read = (part) => {
    try {
      const word = error[part];
      return typeof word === 'string' ? word : '';
    } catch {
      return '';
    }
  };
  let name = read('name');
  if (name === '' || name === 'Error') {
    try {
      name = classNameAt(natives, natives.prototypeOf(error));
    } catch {
      // A proxy that does not tell its class.
    }
  }
  return { name: name === '' ? 'Error' : name, message: read('message') };
}
