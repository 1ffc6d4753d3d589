// @ts-check
/**
 * Wait until two frames were drawn: what moves is somewhere else by then, also where it has begun with the first.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @returns {Promise<void>}
 */
function twoFrames(inside) {
  const { natives } = inside;
  const { nextFrame } = natives.hands;
  const { window } = natives;
  return new natives.Promise((/** @type {() => void} */ resolve) => {
    natives.apply(nextFrame, window, [() => natives.apply(nextFrame, window, [() => resolve()])]);
  });
}
