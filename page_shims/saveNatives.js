// @ts-check
/**
 * Keep the built-ins that the other shims need, before any script of the page can replace them.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Natives}
 */
function saveNatives() {
  return {
    __proto__: null,
    window: globalThis,
    apply: Reflect.apply,
    defineProperty: Reflect.defineProperty,
    prototypeOf: Reflect.getPrototypeOf,
    ownKeys: Object.keys,
    propertyOf: Reflect.getOwnPropertyDescriptor,
    isArray: Array.isArray,
    stringify: JSON.stringify,
    parse: JSON.parse,
    wellFormed: String.prototype.toWellFormed,
    sliceString: String.prototype.slice,
    bigintToString: BigInt.prototype.toString,
    symbolToString: Symbol.prototype.toString,
    mapForEach: Map.prototype.forEach,
    setForEach: Set.prototype.forEach,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
    AbortController,
    signalOf: Reflect.getOwnPropertyDescriptor(AbortController.prototype, 'signal')?.get,
    CustomEvent,
    EventTarget,
    Error,
    Node,
    Promise,
    Proxy,
    Map,
    Set,
    setTimeout,
    performance,
    now: Performance.prototype.now,
    functionToString: Function.prototype.toString,
    objectPrototype: Object.prototype,
    functionPrototype: Function.prototype,
    eventTargetPrototype: EventTarget.prototype,
  };
}
