// @ts-check
/**
 * Wait until the next frame is drawn: what moves is somewhere else then.
 * Runs: main world. Touches no page global.
 * @param {Inside} inside
 * @returns {Promise<void>}
 */
function drawnFrame(inside) {
  const { natives } = inside;
  const { nextFrame } = natives.hands;
  return new natives.Promise((/** @type {() => void} */ resolve) => {
    natives.apply(nextFrame, natives.window, [() => resolve()]);
  });
}
