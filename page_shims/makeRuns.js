// @ts-check
/**
 * Keep what runs in this document, by the numbers that the bridge gives it: to tell it to stop, to hear how far it is,
 * and to let it go. Chromium waits for a promise of ours, so no run can take the bridge's answer with it.
 * Runs: main world. Listeners of a signal run where it is fired.
 * @param {Natives} natives
 * @returns {Runs}
 */
function makeRuns(natives) {
  /** @type {Record<string, StartedRun>} */
  const runs = { __proto__: /** @type {any} */ (null) };
  return {
    begin(number, start) {
      return new natives.Promise(async (/** @type {(ending: Ending) => void} */ resolve) => {
        const run = makeRun(natives, resolve);
        runs[number] = run;
        const ending = await ownPromise(natives, start(run.context));
        delete runs[number];
        run.end(ending);
      });
    },
    abort(number, name, words) {
      const controller = runs[number]?.control();
      if (controller !== undefined) natives.apply(natives.abort, controller, [new natives.DOMException(words, name)]);
    },
    drop(number) {
      const run = runs[number];
      delete runs[number];
      run?.end({ __proto__: null, how: 'abandoned', kind: 'none', text: '' });
    },
    progress(number) {
      return runs[number]?.progress() ?? null;
    },
  };
}
