// @ts-check
/**
 * The getter of a property, undefined where there is none.
 * Runs: main world, document start. Touches no page global.
 * @param {object | null} owner
 * @param {PropertyKey} key
 * @returns {(() => any) | undefined}
 */
function getterOf(owner, key) {
  return owner === null ? undefined : Reflect.getOwnPropertyDescriptor(owner, key)?.get;
}
