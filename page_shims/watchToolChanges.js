// @ts-check
/**
 * Notice that the registered tools are not those of the present round any more. They are read anew for that, without
 * the discovery event: a page that registers its tools each time it is asked would never come to rest. Tools that
 * were registered anew in the same words take the place of those of the round.
 * Runs: main world.
 * @param {Natives} natives
 * @param {() => Round | null} present
 * @param {Registrations} registrations
 * @param {News} news
 * @returns {(source: ModelContextSource) => void} watch one object; again does nothing
 */
function watchToolChanges(natives, present, registrations, news) {
  /** @type {ModelContextSource | null} */
  let watched = null;
  let waiting = false;

  /** @param {ModelContextSource} source */
  const look = async (source) => {
    waiting = false;
    const round = present();
    if (round === null || round.reading) return;
    const before = round.registered;
    const { tools, schemaChars } = before ?? round.room;
    try {
      const room = { __proto__: null, tools, schemaChars };
      const now = await readRegistered(natives, source, round.bounds, room, registrations);
      if (round !== present() || round.registered !== before) return;
      if (before === null || now.words !== before.words) {
        if (before !== null || now.words !== '') news.tell('listener');
        return;
      }
      for (let i = 0; i < now.captured.length; i++) before.captured[i] = /** @type {RegisteredTool} */ (now.captured[i]);
    } catch {
      // They can't be read now; the next listing says why.
    }
  };
  return (source) => {
    if (watched?.context === source.context) return;
    watched = source;
    const onChange = () => {
      registrations.change();
      const round = present();
      if (waiting || round === null || watched !== source) return;
      waiting = true;
      natives.apply(natives.setTimeout, natives.window, [() => look(source), round.bounds.newsPatience]);
    };
    try {
      natives.apply(natives.addEventListener, source.context, ['toolchange', onChange]);
    } catch {
      // A polyfill's object need not be an EventTarget.
    }
  };
}
