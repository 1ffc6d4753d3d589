// @ts-check
/**
 * The shape of an object that is said in one marker.
 * Runs: main world. Touches no page global.
 * @param {string} word
 * @param {string} content
 * @returns {Shape}
 */
function markerShape(word, content) {
  return { __proto__: null, is: 'marker', word, content };
}
