// @ts-check
/**
 * Dispatch the event itself. What listeners throw goes to the page as ever, and is told to `onThrown`, too.
 * Runs: main world. Listeners of the page run.
 * @param {Natives} natives
 * @param {(answer: unknown) => void} respondWith
 * @param {(message: string) => void} onThrown
 * @returns {void}
 */
function dispatchDiscovery(natives, respondWith, onThrown) {
  const event = new natives.CustomEvent('devtoolstooldiscovery');
  natives.defineProperty(event, 'respondWith', {
    __proto__: null,
    value: respondWith,
    writable: true,
    enumerable: true,
    configurable: true,
  });
  /** @param {ErrorEvent} failure */
  const notice = (failure) => onThrown(`${failure.message}`);
  natives.apply(natives.addEventListener, natives.window, ['error', notice, true]);
  try {
    natives.apply(natives.dispatchEvent, natives.window, [event]);
  } finally {
    natives.apply(natives.removeEventListener, natives.window, ['error', notice, true]);
  }
}
