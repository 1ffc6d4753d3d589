// @ts-check
/**
 * Describe what a tool threw, or rejected with: an Error by its name, message and stack, another value as JSON.
 * Runs: main world. Getters of the thrown value run; none of them can make this throw.
 * @param {Natives} natives
 * @param {any} thrown
 * @param {{chars: number, depth: number}} bounds
 * @returns {Ending}
 */
function describeThrown(natives, thrown, bounds) {
  /** @param {unknown} value */
  const text = (value) =>
    typeof value === 'string' ? natives.apply(natives.wellFormed, natives.apply(natives.sliceString, value, [0, 10000]), []) : '';
  try {
    if (thrown instanceof natives.Error) {
      const { name, message, stack } = thrown;
      return { __proto__: null, how: 'failed', kind: 'error', text: text(message), name: text(name), stack: text(stack) };
    }
    if (typeof thrown === 'string') return { __proto__: null, how: 'failed', kind: 'string', text: text(thrown) };
    const room = { chars: bounds.chars < 10000 ? bounds.chars : 10000, depth: bounds.depth };
    return { __proto__: null, how: 'failed', kind: 'json', text: encodeValue(natives, thrown, room) };
  } catch {
    return { __proto__: null, how: 'failed', kind: 'json', text: '"[cannot be read]"' };
  }
}
