// @ts-check
/**
 * Read one group, such as an answer of the page to the discovery event. A bad tool is left out alone; its siblings
 * stay.
 * Runs: main world. Getters of the page run; one that throws costs only its own tool, or its own group.
 * @template Captured
 * @param {Natives} natives
 * @param {any} given what a listener passed to `respondWith`
 * @param {Bounds} bounds
 * @param {Room} room how much more the page may offer; this group takes its share
 * @param {(tool: unknown) => Faulty | ReadTool<Captured>} read
 * @returns {{listed: ListedGroup, captured: Captured[]}}
 */
function readGroup(natives, given, bounds, room, read) {
  /** @type {ListedGroup} */
  const listed = { __proto__: null, name: '', description: '', tools: [], faults: [], dropped: 0 };
  /** @type {Captured[]} */
  const captured = [];
  /** @param {string} part @param {string} expected @param {string} found @param {number} tool */
  const blame = (part, expected, found, tool) => {
    appendTo(natives, listed.faults, { __proto__: null, tool, part, expected, found, name: null });
  };
  try {
    if (given === null || typeof given !== 'object') {
      blame('group', 'an object', describeKind(natives, given), -1);
      return { listed, captured };
    }
    const { name, description, tools } = given;
    if (typeof name === 'string') listed.name = natives.apply(natives.sliceString, name, [0, bounds.nameChars]);
    else blame('name', 'a string', describeKind(natives, name), -1);
    if (typeof description === 'string') {
      listed.description = natives.apply(natives.sliceString, description, [0, bounds.descriptionChars]);
    } else if (description !== undefined) {
      blame('description', 'a string', describeKind(natives, description), -1);
    }
    if (!natives.isArray(tools)) {
      blame('tools', 'an array', describeKind(natives, tools), -1);
      return { listed, captured };
    }
    const count = tools.length;
    for (let i = 0; i < count; i++) {
      if (room.tools <= 0 || room.schemaChars <= 0) {
        listed.dropped = count - i;
        break;
      }
      try {
        const tool = read(tools[i]);
        if ('fault' in tool) {
          tool.fault.tool = i;
          appendTo(natives, listed.faults, tool.fault);
        } else {
          tool.listed.index = captured.length;
          room.tools--;
          room.schemaChars -= tool.listed.schema.length;
          appendTo(natives, listed.tools, tool.listed);
          appendTo(natives, captured, tool.captured);
        }
      } catch (thrown) {
        blame('tool', 'properties that can be read', `a getter that threw ${describeKind(natives, thrown)}`, i);
      }
    }
  } catch (thrown) {
    blame('group', 'properties that can be read', `a getter that threw ${describeKind(natives, thrown)}`, -1);
  }
  return { listed, captured };
}
