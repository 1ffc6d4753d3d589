// @ts-check
/**
 * Begin the list of the tools that a script wants to be called: it asks, the bridge reads that, calls, and answers.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {ScriptCalls}
 */
function openScriptCalls(natives) {
  /** @type {Record<string, {resolve(value: unknown): void, reject(error: Error): void}>} */
  const asked = { __proto__: /** @type {any} */ (null) };
  /** @type {{request: ScriptCall, next: any} | null} */
  let first = null;
  /** @type {any} */
  let last = null;
  /** @type {((request: ScriptCall | null) => void) | null} */
  let wake = null;
  let count = 0;
  let closed = false;
  return {
    __proto__: null,
    call(name, given) {
      return new natives.Promise((/** @type {any} */ resolve, /** @type {any} */ reject) => {
        const text = given === undefined ? '{}' : natives.stringify(given);
        if (closed) return reject(new natives.Error('The script has ended.'));
        if (typeof name !== 'string' || typeof text !== 'string') {
          return reject(new natives.Error('callTool takes the name of a tool, and an object for its arguments.'));
        }
        const request = { __proto__: null, id: ++count, name: natives.apply(natives.wellFormed, name, []), text };
        asked[request.id] = { resolve, reject };
        if (wake !== null) {
          const deliver = wake;
          wake = null;
          return deliver(request);
        }
        const entry = { request, next: null };
        if (first === null) first = entry;
        else last.next = entry;
        last = entry;
      });
    },
    next() {
      return new natives.Promise((/** @type {any} */ deliver) => {
        if (first !== null) {
          const { request } = first;
          first = first.next;
          deliver(request);
        } else if (closed) deliver(null);
        else wake = deliver;
      });
    },
    answer(id, isGood, text) {
      const waiting = asked[id];
      delete asked[id];
      if (waiting === undefined) return;
      if (isGood) waiting.resolve(text === '' ? undefined : natives.parse(text));
      else waiting.reject(new natives.Error(text));
    },
    close() {
      closed = true;
      if (wake !== null) wake(null);
    },
  };
}
