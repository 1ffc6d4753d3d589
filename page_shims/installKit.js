// @ts-check
/**
 * Leave the kit where only the debugging protocol can find it: as the listener of an event whose name is a
 * secret of this session. No property of the page changes, and page code cannot list listeners.
 * Runs: main world, document start, each frame.
 * @param {string} secret
 * @returns {unknown} the kit
 */
function installKit(secret) {
  const natives = saveNatives();
  const kit = makeKit(natives);
  natives.apply(natives.addEventListener, natives.window, [secret, kit]);
  return kit;
}
