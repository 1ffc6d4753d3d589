// @ts-check
/**
 * Dispatch `devtoolstooldiscovery` on the window and read every answer that came with it.
 * Runs: main world, each time a fresh list is needed. Listeners of the page run; one that throws is reported.
 * @param {Natives} natives
 * @param {Bounds} bounds
 * @returns {{listed: Discovery, captured: CapturedTool[][]}}
 */
function askForTools(natives, bounds) {
  /** @type {unknown[]} */
  const answers = [];
  /** @type {string[]} */
  const thrown = [];
  let surplus = 0;
  const event = new natives.CustomEvent('devtoolstooldiscovery');
  natives.defineProperty(event, 'respondWith', {
    __proto__: null,
    value: /** @param {unknown} answer */ (answer) => {
      if (answers.length < bounds.groups) appendTo(natives, answers, answer);
      else surplus++;
    },
    writable: true,
    enumerable: true,
    configurable: true,
  });
  /** @param {ErrorEvent} failure */
  const notice = (failure) => {
    if (thrown.length < 5) appendTo(natives, thrown, natives.apply(natives.sliceString, `${failure.message}`, [0, 200]));
  };
  natives.apply(natives.addEventListener, natives.window, ['error', notice, true]);
  try {
    natives.apply(natives.dispatchEvent, natives.window, [event]);
  } finally {
    natives.apply(natives.removeEventListener, natives.window, ['error', notice, true]);
  }
  /** @type {Discovery} */
  const listed = { __proto__: null, groups: [], thrown, surplus };
  /** @type {CapturedTool[][]} */
  const captured = [];
  let room = bounds.tools;
  for (let i = 0; i < answers.length; i++) {
    const group = readGroup(natives, answers[i], bounds, room);
    room -= group.captured.length;
    appendTo(natives, listed.groups, group.listed);
    appendTo(natives, captured, group.captured);
  }
  return { listed, captured };
}
