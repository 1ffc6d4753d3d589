// @ts-check
/**
 * Make the one function through which the bridge speaks with a document. It keeps the tools of the latest round of
 * discovery: a call names the round that it was checked against, and an older one runs nothing.
 * Runs: main world. Reached only through the debugging protocol.
 * @param {Natives} natives
 * @param {boolean} early no script of the page has run yet
 * @returns {(words: string) => unknown} takes `[operation, ...]` as JSON text
 */
function makeKit(natives, early) {
  const news = makeNews(natives);
  const dtmcp = makeDtmcp(natives);
  const runs = makeRuns(natives);
  const inside = makeInside(natives, runs);
  /** @type {Round | null} */
  let round = null;
  /** @type {ValueBounds} */
  let bounds;
  // A page that runs already may hold on to the functions that covering replaces: there, a listener may be.
  const cover = early ? makeCover(natives) : null;
  const listening = cover === null ? () => 1 : watchListeners(natives, cover, () => news.tell('listener'));
  const registrations = watchRegistrations(natives, cover);
  const watchTools = watchToolChanges(natives, () => round, registrations, news);
  const atStart = findModelContext(natives);
  if (atStart !== null) watchTools(atStart);

  return function kit(text) {
    const words = natives.parse(text);
    switch (words[0]) {
      case 'discover': {
        if (!runsListeners(natives)) {
          if (!isScriptless(natives)) return waitForTimers(natives);
          return { __proto__: null, round: 0, groups: [], thrown: [], surplus: 0, more: false, scriptless: true };
        }
        bounds = words[3];
        const hoped = hopeFor(natives, round, listening(), words[1].patience);
        round = openRound(natives, words[1], (round === null ? 0 : round.number) + 1, hoped, news, dtmcp.begin());
        const source = findModelContext(natives);
        if (source !== null) {
          watchTools(source);
          addRegistered(natives, round, source, registrations, news);
        }
        return waitForRound(natives, round, words[2]);
      }
      case 'report':
        return round === null ? null : describeRound(round);
      case 'watch':
        return news.next();
      case 'call': {
        const tool = round !== null && words[1] === round.number ? round.captured[words[2]]?.[words[3]] : undefined;
        if (tool === undefined) return { __proto__: null, how: 'stale', kind: 'none', text: '' };
        const given = natives.parse(words[4]);
        const lacking = placeElements(natives, given, words[7]);
        if (lacking !== null) return lacking;
        /** @type {ValueBounds} */
        const wanted = /** @type {any} */ ({ __proto__: bounds, select: words[5] });
        return runs.begin(words[6], (context) => {
          if ('source' in tool) return runRegistered(natives, tool, words[4], wanted, registrations, context);
          return runTool(natives, () => natives.apply(tool.execute, tool.owner, [given, context]), wanted);
        });
      }
      case 'abort':
        return runs.abort(words[1], words[2], words[3]);
      case 'drop':
        return runs.drop(words[1]);
      case 'inside':
        return inside;
      case 'leave':
        return dtmcp.leave();
      case 'progress':
        return runs.progress(words[1]);
      default:
        return null;
    }
  };
}
