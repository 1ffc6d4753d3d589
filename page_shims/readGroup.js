// @ts-check
/**
 * Read one answer of the page to the discovery event. A bad tool is left out alone; its siblings stay.
 * Runs: main world. Getters of the page run; one that throws costs only its own tool, or its own group.
 * @param {Natives} natives
 * @param {any} given what a listener passed to `respondWith`
 * @param {Bounds} bounds
 * @param {Room} room how much more the page may offer; this group takes its share
 * @returns {{listed: ListedGroup, captured: CapturedTool[]}}
 */
function readGroup(natives, given, bounds, room) {
  /** @type {ListedGroup} */
  const listed = { __proto__: null, name: '', description: '', tools: [], faults: [], dropped: 0 };
  /** @type {CapturedTool[]} */
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
        const read = readTool(natives, tools[i], bounds);
        if ('fault' in read) {
          read.fault.tool = i;
          appendTo(natives, listed.faults, read.fault);
        } else {
          read.listed.index = captured.length;
          room.tools--;
          room.schemaChars -= read.listed.schema.length;
          appendTo(natives, listed.tools, read.listed);
          appendTo(natives, captured, read.captured);
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
