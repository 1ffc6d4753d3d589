// @ts-check
/**
 * Add the tools that are registered with `document.modelContext` to a round, as one more group, if there are any.
 * What listeners of the event have registered while it was dispatched is among them.
 * Runs: main world. The code of a polyfill runs. Never rejects.
 * @param {Natives} natives
 * @param {Round} round
 * @param {ModelContextSource} source
 * @param {Registrations} registrations
 * @param {News} news
 * @returns {Promise<void>}
 */
async function addRegistered(natives, round, source, registrations, news) {
  // Chromium 156 ends, the whole browser, when a document asks for its tools while it is left for another site.
  if (source.native && !registrations.any()) return;
  const { tools, schemaChars } = round.room;
  round.reading = true;
  try {
    const { listed, captured, words } = await readRegistered(natives, source, round.bounds, round.room, registrations);
    round.registered = { __proto__: null, captured, words, tools, schemaChars };
    if (listed.tools.length > 0 || listed.faults.length > 0) {
      appendTo(natives, round.listed.groups, listed);
      appendTo(natives, round.captured, captured);
    }
  } catch (thrown) {
    round.listed.refused = refusal(natives, thrown);
  }
  round.reading = false;
  news.tell('answers');
  round.settled?.();
}
