// @ts-check
/**
 * Make what belongs to one run of a tool: the context that the tool gets, as devtools-tools.d.ts promises it, and the
 * bridge's end of that. Of reports of progress that nobody has read yet, the latest counts.
 * Runs: main world. Getters of a report run.
 * @param {Natives} natives
 * @param {(ending: Ending) => void} resolve
 * @returns {StartedRun}
 */
function makeRun(natives, resolve) {
  /** @type {AbortController | null} */
  let controller = null;
  const control = () => (controller ??= new natives.AbortController());
  /** @type {ProgressReport | null} */
  let report = null;
  /** @type {((report: ProgressReport | null) => void) | null} */
  let wake = null;
  let ended = false;
  return {
    __proto__: null,
    control,
    context: {
      get signal() {
        return natives.apply(natives.signalOf, control(), []);
      },
      progress(given) {
        const read = readProgress(natives, given);
        if (ended || read === null) return;
        report = read;
        if (wake === null) return;
        const deliver = wake;
        wake = null;
        report = null;
        deliver(read);
      },
    },
    end(ending) {
      ended = true;
      if (wake !== null) wake(null);
      resolve(ending);
    },
    progress() {
      return new natives.Promise((/** @type {(report: ProgressReport | null) => void} */ deliver) => {
        if (report === null) {
          wake = deliver;
        } else {
          deliver(report);
          report = null;
        }
      });
    },
  };
}
