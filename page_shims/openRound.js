// @ts-check
/**
 * Dispatch `devtoolstooldiscovery` on the window and read every answer, those that come with it and those that come
 * later. A later answer counts for as long as no newer round was opened.
 * Runs: main world, each time a fresh list is needed. Listeners of the page run; one that throws is reported.
 * @param {Natives} natives
 * @param {Bounds} bounds
 * @param {number} number counts the rounds of this document
 * @param {number} hoped how many answers may come
 * @param {News} news
 * @param {(group: ToolGroup) => void} onGroup is given each group that has a tool
 * @returns {Round}
 */
function openRound(natives, bounds, number, hoped, news, onGroup) {
  /** @type {Round} */
  const round = {
    __proto__: null,
    number,
    bounds,
    opened: natives.apply(natives.now, natives.performance, []),
    hoped,
    answers: 0,
    promised: 0,
    reading: false,
    registered: null,
    listed: { __proto__: null, round: number, groups: [], thrown: [], surplus: 0, more: false },
    captured: [],
    room: { __proto__: null, tools: bounds.tools, schemaChars: bounds.allSchemaChars },
    settled: null,
  };
  let dispatching = true;

  /** @param {any} answer */
  const take = (answer) => {
    const group = readGroup(natives, answer, bounds, round.room, (tool) => readTool(natives, tool, bounds));
    appendTo(natives, round.listed.groups, group.listed);
    appendTo(natives, round.captured, group.captured);
    round.answers++;
    if (group.captured.length > 0) onGroup(answer);
  };
  const step = () => {
    if (dispatching) return;
    news.tell('answers');
    round.settled?.();
  };
  /** @param {any} promise */
  const takeLater = async (promise) => {
    round.promised++;
    try {
      take(await promise);
    } catch (thrown) {
      noteThrown(natives, round, `a promised answer was rejected with ${describeKind(natives, thrown)}`);
    }
    round.promised--;
    step();
  };
  /** @param {any} answer */
  const respondWith = (answer) => {
    if (round.answers + round.promised >= bounds.groups) {
      round.listed.surplus++;
    } else if (isPromise(natives, answer)) {
      takeLater(answer);
    } else {
      take(answer);
      step();
    }
  };
  dispatchDiscovery(natives, respondWith, (message) => noteThrown(natives, round, message));
  dispatching = false;
  return round;
}
