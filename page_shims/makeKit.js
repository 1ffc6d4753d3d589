// @ts-check
/**
 * Make the one function through which the bridge speaks with a document. It keeps the tools of the latest
 * discovery: a call names the discovery it was checked against, and an older one runs nothing.
 * Runs: main world. Reached only through the debugging protocol.
 * @param {Natives} natives
 * @returns {(operation: 'discover' | 'call', ...rest: any[]) => unknown}
 */
function makeKit(natives) {
  let discovery = 0;
  /** @type {CapturedTool[][]} */
  let captured = [];

  return function kit(operation, ...rest) {
    if (operation === 'discover') {
      const asked = askForTools(natives, rest[0]);
      captured = asked.captured;
      asked.listed.discovery = ++discovery;
      return asked.listed;
    }
    const tool = rest[0] === discovery ? captured[rest[1]]?.[rest[2]] : undefined;
    if (tool === undefined) return { __proto__: null, how: 'stale', kind: 'none', text: '' };
    return runTool(natives, tool, rest[3], rest[4]);
  };
}
