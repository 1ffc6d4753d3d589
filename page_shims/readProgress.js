// @ts-check
/**
 * Read a tool's report of its progress; null where `done` is no number.
 * Runs: main world. Getters of the report run, and what they throw goes to the tool.
 * @param {Natives} natives
 * @param {any} given
 * @returns {ProgressReport | null}
 */
function readProgress(natives, given) {
  const done = given?.done;
  const total = given?.total;
  const message = given?.message;
  /** @param {unknown} value */
  const isFinite = (value) => typeof value === 'number' && value - value === 0;
  if (!isFinite(done)) return null;
  const words = typeof message === 'string' ? natives.apply(natives.wellFormed, clipText(natives, message, 1000), []) : null;
  return { __proto__: null, done, total: isFinite(total) ? total : null, message: words };
}
