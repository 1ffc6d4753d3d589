// @ts-check
/**
 * Why the tools that are registered with `document.modelContext` could not be read.
 * Runs: main world. Getters of the thrown value run; none of them can make this throw.
 * @param {Natives} natives
 * @param {unknown} thrown
 * @returns {string}
 */
function refusal(natives, thrown) {
  const { kind, name, text } = describeThrown(natives, thrown);
  return natives.apply(natives.sliceString, kind === 'error' ? `${name}: ${text}` : text, [0, 200]);
}
