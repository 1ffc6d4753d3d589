// @ts-check
/**
 * Why a picture or a blob could not be read, in one of the words that the bridge knows.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {unknown} thrown
 * @returns {'tainted' | 'empty' | 'unreadable'}
 */
function pictureProblem(natives, thrown) {
  if (thrown === 'empty') return thrown;
  try {
    return natives.apply(natives.pictures.errorName, thrown, []) === 'SecurityError' ? 'tainted' : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
