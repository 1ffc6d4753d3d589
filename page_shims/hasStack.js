// @ts-check
/**
 * Whether an error has a stack, or will not say.
 * Runs: main world. A getter of the error runs.
 * @param {any} error
 * @returns {boolean}
 */
function hasStack(error) {
  try {
    return error.stack !== undefined;
  } catch {
    return true;
  }
}
