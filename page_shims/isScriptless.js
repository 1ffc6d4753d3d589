// @ts-check
/**
 * Whether scripts of the page never run: switched off in the browser, by another debugger, or by a sandbox. Ours do.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {boolean}
 */
function isScriptless(natives) {
  const query = natives.apply(natives.matchMedia, natives.window, ['(scripting: none)']);
  return natives.apply(natives.matchesOf, query, []);
}
