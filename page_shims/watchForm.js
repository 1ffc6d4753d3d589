// @ts-check
/**
 * Notice that a call has filled in its form, and that nothing came of that within a moment: it waits for a person.
 * Chromium tells that a tool is active on its own object, the polyfills on the window.
 * Runs: main world.
 * @param {Natives} natives
 * @param {RegisteredTool} tool
 * @param {number} milliseconds how long a moment is
 * @param {(ending: Ending) => void} onWaiting
 * @returns {() => void} stop watching
 */
function watchForm(natives, tool, milliseconds, onWaiting) {
  const places = [natives.window, tool.source.context];
  const notice = (/** @type {any} */ event) => {
    if (event.toolName !== tool.name) return;
    const tell = () => onWaiting({ __proto__: null, how: 'completed', kind: 'form', text: '' });
    natives.apply(natives.setTimeout, natives.window, [tell, milliseconds]);
  };
  const each = (/** @type {Function} */ method) => {
    for (let i = 0; i < places.length; i++) {
      try {
        natives.apply(method, places[i], ['toolactivated', notice]);
      } catch {
        // A polyfill's object need not be an EventTarget.
      }
    }
  };
  each(natives.addEventListener);
  return () => each(natives.removeEventListener);
}
