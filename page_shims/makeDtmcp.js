// @ts-check
/**
 * Make `window.__dtmcp`, for scripts that were written for chrome-devtools-mcp: the groups of the latest round, and
 * `executeTool(name, args)`. It is there from the first group that has a tool, unless the page has one of its own.
 * Page code may do with it what it likes: the bridge puts groups into it, and reads nothing from it.
 * Runs: main world. Adds one global, which no loop over the window's properties meets.
 * @param {Natives} natives
 * @returns {{__proto__: null, begin: () => (group: ToolGroup) => void, leave: () => void}} `begin` an empty list, and
 *   get what adds a group to it; `leave` nothing behind
 */
function makeDtmcp(natives) {
  let defined = false;
  /** @type {DevtoolsToolHelper} */
  const helper = {
    toolGroups: [],
    async executeTool(name, args) {
      for (let i = 0; i < helper.toolGroups.length; i++) {
        const tools = helper.toolGroups[i]?.tools ?? [];
        for (let k = 0; k < tools.length; k++) {
          const tool = tools[k];
          if (tool?.name === name) return tool.execute(args ?? {}, makeContext(natives));
        }
      }
      throw new natives.Error(`This page offers no tool ${natives.stringify(name)}`);
    },
  };
  return {
    __proto__: null,
    begin: () => {
      /** @type {ToolGroup[]} */
      const groups = [];
      natives.defineProperty(helper, 'toolGroups', { __proto__: null, value: groups });
      return (group) => {
        appendTo(natives, groups, group);
        if (defined || '__dtmcp' in natives.window) return;
        const how = { __proto__: null, value: helper, writable: true, enumerable: false, configurable: true };
        defined = natives.defineProperty(natives.window, '__dtmcp', how);
      };
    },
    leave: () => {
      if (natives.propertyOf(natives.window, '__dtmcp')?.value === helper) {
        natives.deleteProperty(natives.window, '__dtmcp');
      }
    },
  };
}
