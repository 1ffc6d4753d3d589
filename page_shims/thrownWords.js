// @ts-check
/**
 * Say in a few words what was thrown.
 * Runs: main world. Getters of the thrown value run; none of them can make this throw.
 * @param {Natives} natives
 * @param {unknown} thrown
 * @returns {string}
 */
function thrownWords(natives, thrown) {
  try {
    if (!isError(natives, thrown)) return describeKind(natives, thrown);
    const { name, message } = errorWords(natives, thrown);
    return clipText(natives, message === '' ? name : `${name}: ${message}`, 300);
  } catch {
    return 'an object that cannot be read';
  }
}
