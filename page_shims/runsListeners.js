// @ts-check
/**
 * Whether listeners run now. They do not while Chromium holds the page's scripts, as it does while it attaches to a
 * popup of the page: an event that is dispatched then reaches nobody, which looks like a page without tools.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {boolean}
 */
function runsListeners(natives) {
  let run = false;
  const target = new natives.EventTarget();
  natives.apply(natives.addEventListener, target, ['probe', () => (run = true)]);
  natives.apply(natives.dispatchEvent, target, [new natives.CustomEvent('probe')]);
  return run;
}
