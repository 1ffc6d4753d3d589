// @ts-check
/**
 * Stand between Chromium and the `execute` functions that scripts register with `document.modelContext`. Chromium
 * finds a tool by its name at the moment when it runs it; here, a call that the bridge awaits tells whether that is
 * still the tool that was listed, and gets the value itself: Chromium hands out nothing but text, and no reason.
 * Runs: main world, document start.
 * @param {Natives} natives
 * @param {Cover | null} cover null in a document that ran already: there, nothing is known of registrations
 * @returns {Registrations}
 */
function watchRegistrations(natives, cover) {
  const watched = cover !== null && natives.modelContextPrototype !== undefined;
  let count = 0;
  let changes = 0;
  let calls = 0;
  /** @type {{__proto__: null, changes: number, tools: any[]} | null} */
  let latest = null;
  /** @type {Record<string, true>} */
  const names = { __proto__: /** @type {any} */ (null) };
  /** @type {Record<string, AwaitedRun>} */
  const awaited = { __proto__: /** @type {any} */ (null) };

  /** @param {unknown} name @param {unknown} input @returns {AwaitedRun | null} */
  const claim = (name, input) => {
    for (const call in awaited) {
      const run = /** @type {AwaitedRun} */ (awaited[call]);
      if (run.name === name && isWritten(natives, input, run.text)) {
        delete awaited[call];
        return run;
      }
    }
    return null;
  };
  if (watched) {
    cover(natives.modelContextPrototype, 'registerTool', (target, self, given) => {
      if (given[0] !== null && typeof given[0] === 'object') {
        const serial = ++count;
        changes++;
        const onName = (/** @type {string} */ name) => {
          names[name] = true;
        };
        given[0] = wrapTool(natives, given[0], onName, (name, input, execute) => {
          const run = claim(name, input);
          return run === null ? execute() : run.begin(serial, execute);
        });
      }
      return natives.apply(target, self, given);
    });
  }
  return {
    watched,
    count: () => count,
    has: (name) => names[name] === true,
    any: () => !watched || changes > 0 || findForm(natives, null) !== null,
    change() {
      changes++;
    },
    async list(source) {
      if (latest !== null && watched && source.native && latest.changes === changes) return latest.tools;
      const asked = { __proto__: null, changes, tools: await listRegistered(natives, source) };
      latest = asked;
      return asked.tools;
    },
    expect(run) {
      const call = ++calls;
      awaited[call] = run;
      return () => {
        delete awaited[call];
      };
    },
  };
}
