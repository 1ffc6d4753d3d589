// @ts-check
/**
 * Make what a tool gets beside its arguments, as devtools-tools.d.ts promises it.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {ToolContext}
 */
function makeContext(natives) {
  return { signal: natives.apply(natives.signalOf, new natives.AbortController(), []), progress() {} };
}
