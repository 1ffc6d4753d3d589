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
  let suspected = false;
  let count = 0;
  let calls = 0;
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
  /** @param {any} tool as a script gave it; each property is read when Chromium reads it, and once */
  const stand = (tool) => {
    const serial = ++count;
    /** @type {unknown} */
    let name;
    const get = (/** @type {unknown} */ _, /** @type {string} */ key) => {
      const value = tool[key];
      if (key === 'name') {
        name = value;
        if (typeof value === 'string') names[value] = true;
      }
      if (key !== 'execute' || typeof value !== 'function') return value;
      return (/** @type {unknown[]} */ ...given) => {
        const run = claim(name, given[0]);
        const execute = () => natives.apply(value, undefined, given);
        return run === null ? execute() : run.begin(serial, execute);
      };
    };
    return new natives.Proxy({ __proto__: null }, { __proto__: null, get });
  };
  if (watched) {
    cover(natives.modelContextPrototype, 'registerTool', (target, self, given) => {
      const tool = given[0];
      if (tool !== null && typeof tool === 'object') given[0] = stand(tool);
      return natives.apply(target, self, given);
    });
  }
  return {
    count: () => count,
    watched,
    has: (name) => names[name] === true,
    any: () => !watched || suspected || count > 0 || findForm(natives, null) !== null,
    suspect() {
      suspected = true;
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
