// @ts-check
/**
 * Make what a tool gets beside its arguments where a script of the page runs it: a signal that never fires, and nobody
 * who hears of progress.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {ToolContext}
 */
function makeContext(natives) {
  return { signal: natives.apply(natives.signalOf, new natives.AbortController(), []), progress() {} };
}
