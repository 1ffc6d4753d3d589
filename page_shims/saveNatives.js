// @ts-check
/**
 * Keep the built-ins that the other shims need, before any script of the page can replace them.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Natives}
 */
function saveNatives() {
  const { ModelContext } = /** @type {any} */ (globalThis);
  return {
    __proto__: null,
    window: globalThis,
    apply: Reflect.apply,
    defineProperty: Reflect.defineProperty,
    deleteProperty: Reflect.deleteProperty,
    prototypeOf: Reflect.getPrototypeOf,
    ownKeys: Object.keys,
    propertyOf: Reflect.getOwnPropertyDescriptor,
    isArray: Array.isArray,
    stringify: JSON.stringify,
    parse: JSON.parse,
    wellFormed: String.prototype.toWellFormed,
    sliceString: String.prototype.slice,
    // Bound, since it is asked for each character of long strings.
    codeAt: Function.prototype.call.bind(String.prototype.charCodeAt),
    includes: String.prototype.includes,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
    AbortController,
    abort: AbortController.prototype.abort,
    DOMException,
    signalOf: Reflect.getOwnPropertyDescriptor(AbortController.prototype, 'signal')?.get,
    CustomEvent,
    EventTarget,
    Error,
    Promise,
    Proxy,
    Map,
    setTimeout,
    matchMedia,
    matchesOf: Reflect.getOwnPropertyDescriptor(MediaQueryList.prototype, 'matches')?.get,
    performance,
    now: Performance.prototype.now,
    querySelector: Document.prototype.querySelector,
    querySelectorAll: Document.prototype.querySelectorAll,
    getAttribute: Element.prototype.getAttribute,
    hasAttribute: Element.prototype.hasAttribute,
    lengthOfNodes: Reflect.getOwnPropertyDescriptor(NodeList.prototype, 'length')?.get,
    modelContextOf: Reflect.getOwnPropertyDescriptor(Document.prototype, 'modelContext')?.get,
    modelContextPrototype: ModelContext?.prototype,
    getTools: ModelContext?.prototype.getTools,
    executeTool: ModelContext?.prototype.executeTool,
    functionToString: Function.prototype.toString,
    objectPrototype: Object.prototype,
    functionPrototype: Function.prototype,
    eventTargetPrototype: EventTarget.prototype,
    kinds: saveKinds(),
    readers: saveReaders(),
    named: openElements(),
    pictures: savePictures(),
    hands: saveHands(),
  };
}
