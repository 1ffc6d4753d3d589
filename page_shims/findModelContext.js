// @ts-check
/**
 * Find the WebMCP object of this document: Chromium's own, or that of a polyfill. Of Chromium's, the methods are used
 * that were there at document start.
 * Runs: main world. Getters of a polyfill run; one that throws counts as none.
 * @param {Natives} natives
 * @returns {ModelContextSource | null}
 */
function findModelContext(natives) {
  const { modelContextOf, getTools, executeTool } = natives;
  try {
    if (isNative(natives, modelContextOf) && isNative(natives, executeTool)) {
      const context = natives.apply(modelContextOf, natives.window.document, []);
      if (context !== null && context !== undefined) return { __proto__: null, context, getTools, executeTool, native: true };
    }
    const context = natives.window.document.modelContext ?? natives.window.navigator.modelContext;
    if (context === null || typeof context !== 'object') return null;
    const own = { getTools: context.getTools, executeTool: context.executeTool };
    if (typeof own.getTools !== 'function' || typeof own.executeTool !== 'function') return null;
    return { __proto__: null, context, getTools: own.getTools, executeTool: own.executeTool, native: false };
  } catch {
    return null;
  }
}
