// @ts-check
/**
 * Dispatch what the browser does where a person has changed a field.
 * Runs: main world. Listeners of the page run.
 * @param {Natives} natives
 * @param {any} element
 * @returns {void}
 */
function tellChanged(natives, element) {
  const { Event } = natives.hands;
  const input = new Event('input', { __proto__: null, bubbles: true, composed: true });
  natives.apply(natives.dispatchEvent, element, [input]);
  natives.apply(natives.dispatchEvent, element, [new Event('change', { __proto__: null, bubbles: true })]);
}
