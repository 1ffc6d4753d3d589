// @ts-check
/**
 * Make what the hands get of a document: they are sent when a tool of the bridge's own needs them, and work with what
 * the kit has kept.
 * Runs: main world. Reached only through the debugging protocol.
 * @param {Natives} natives
 * @param {Runs} runs
 * @returns {Inside}
 */
function makeInside(natives, runs) {
  return { __proto__: null, natives, runs, scripts: { __proto__: null }, appendTo, describeNode, elementAt, mintUid, ownPromise, runTool };
}
