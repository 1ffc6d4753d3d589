// @ts-check
/**
 * Whether a form that is a tool submits itself once it is filled in. One that is not to be found does not.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Element | null} form
 * @returns {boolean}
 */
function submitsItself(natives, form) {
  return form !== null && natives.apply(natives.hasAttribute, form, ['toolautosubmit']);
}
