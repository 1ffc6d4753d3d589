// @ts-check
/**
 * Run a tool that is registered with `document.modelContext`, through its `executeTool`, and describe how it ended.
 * Never rejects. Chromium goes by the name alone, at the moment when it runs a tool. Where registrations are watched,
 * that moment is seen, and what was registered after the listing does not run; elsewhere the tool is looked for anew.
 * Runs: main world. The tool of the page runs, and the code of a polyfill.
 * @param {Natives} natives
 * @param {RegisteredTool} tool
 * @param {string} argumentsText JSON of an object
 * @param {ValueBounds} bounds
 * @param {Registrations} registrations
 * @param {ToolContext} context its signal goes on to the tool
 * @returns {Promise<Ending>}
 */
function runRegistered(natives, tool, argumentsText, bounds, registrations, context) {
  /** @type {Ending} */
  const stale = { __proto__: null, how: 'stale', kind: 'none', text: '' };
  const { source } = tool;
  const seen = registrations.watched && !tool.isForm;
  const given = natives.parse(argumentsText);
  const text = writeJson(natives, given, { chars: Infinity, depth: Infinity });
  hideToJson(natives, given);

  return new natives.Promise(async (/** @type {(ending: Ending) => void} */ resolve) => {
    const entry = seen ? tool.entry : await findRegistered(natives, tool, registrations);
    if (entry === null) return resolve(stale);
    let begun = false;
    /** @param {Ending} ending */
    const end = (ending) => {
      forget();
      unwatch();
      resolve(ending);
    };
    /** @param {number} serial @param {() => unknown} execute */
    const begin = async (serial, execute) => {
      begun = true;
      end(seen && serial > tool.registered ? stale : await runTool(natives, execute, bounds));
    };
    const forget = registrations.expect({ __proto__: null, name: tool.name, text, begin });
    const waits = tool.isForm && !submitsItself(natives, tool.form);
    const unwatch = waits ? watchForm(natives, tool, tool.bounds.formPatience, end) : () => {};
    let ending;
    try {
      const input = source.native ? given : argumentsText;
      const options = { __proto__: null, signal: context.signal };
      ending = await describeAnswer(natives, await natives.apply(source.executeTool, source.context, [entry, input, options]), bounds);
    } catch (thrown) {
      ending = describeThrown(natives, thrown);
    }
    if (begun) return;
    const gone = seen && (await findRegistered(natives, tool, registrations)) === null;
    end(gone ? stale : ending);
  });
}
