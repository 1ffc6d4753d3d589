// @ts-check
/**
 * Describe what a tool threw, or rejected with: an error by its name, message and stack, and as JSON what else it
 * carries; another value as it would be written in a result.
 * Runs: main world. Getters of the thrown value run; none of them can make this throw.
 * @param {Natives} natives
 * @param {any} thrown
 * @returns {Ending}
 */
function describeThrown(natives, thrown) {
  const room = thrownBounds();
  /** @param {() => unknown} give @returns {string} */
  const attempt = (give) => {
    try {
      const text = give();
      return typeof text === 'string' ? natives.apply(natives.wellFormed, text, []) : '';
    } catch {
      return '';
    }
  };
  /** @param {() => unknown} give */
  const short = (give) => clipText(natives, attempt(give), 10000);
  if (typeof thrown === 'string') return { __proto__: null, how: 'failed', kind: 'string', text: short(() => thrown) };
  if (!isError(natives, thrown)) {
    const text = attempt(() => encodeValue(natives, thrown, room, ''));
    return { __proto__: null, how: 'failed', kind: 'json', text };
  }
  const { name, message } = errorWords(natives, thrown);
  return {
    __proto__: null,
    how: 'failed',
    kind: 'error',
    text: short(() => message),
    name: short(() => name),
    stack: short(() => thrown.stack),
    more: attempt(() => besidesMessage(natives, thrown, room)),
  };
}
