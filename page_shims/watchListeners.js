// @ts-check
/**
 * Notice listeners for the discovery event as they are added to the window, at any time and in any way.
 * Runs: main world, document start.
 * @param {Natives} natives
 * @param {Cover} cover
 * @param {() => void} onAdded
 * @returns {() => number} how many were added
 */
function watchListeners(natives, cover, onAdded) {
  let added = 0;
  cover(natives.eventTargetPrototype, 'addEventListener', (target, self, given) => {
    const result = natives.apply(target, self, given);
    if (given[0] === 'devtoolstooldiscovery' && (self === natives.window || self === undefined || self === null)) {
      added++;
      onAdded();
    }
    return result;
  });
  return () => added;
}
