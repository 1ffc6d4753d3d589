// @ts-check
/**
 * Wait until timers run: Chromium holds them together with the page's scripts, and lets them go together.
 * Runs: main world.
 * @param {Natives} natives
 * @returns {Promise<null>}
 */
function waitForTimers(natives) {
  return new natives.Promise(
    /** @param {(nothing: null) => void} resolve */ (resolve) => {
      natives.apply(natives.setTimeout, natives.window, [() => resolve(null), 0]);
    },
  );
}
