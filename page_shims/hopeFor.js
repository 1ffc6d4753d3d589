// @ts-check
/**
 * How many answers a new round may hope for: as many as the one before got, at first one of each listener. A round
 * that another one followed before slow answers had their time hands its own hope on.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Round | null} before
 * @param {number} listeners how many were added, as far as is known
 * @param {number} patience milliseconds that slow answers have
 * @returns {number}
 */
function hopeFor(natives, before, listeners, patience) {
  if (before === null) return listeners;
  const hadTime = natives.apply(natives.now, natives.performance, []) - before.opened >= patience;
  return hadTime || before.answers > before.hoped ? before.answers : before.hoped;
}
