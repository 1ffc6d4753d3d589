// @ts-check
/**
 * Keep the built-ins by which elements are looked at and set for the bridge's own tools. One that is missing is
 * undefined.
 * Runs: main world, document start, each frame. Touches no page global.
 * @returns {Natives}
 */
function saveHands() {
  const element = prototypeNamed('Element');
  const input = prototypeNamed('HTMLInputElement');
  const area = prototypeNamed('HTMLTextAreaElement');
  const list = prototypeNamed('HTMLSelectElement');
  const option = prototypeNamed('HTMLOptionElement');
  const collection = prototypeNamed('HTMLCollection');
  /** @param {object | null} owner @param {string} key */
  const setterOf = (owner, key) => (owner === null ? undefined : Reflect.getOwnPropertyDescriptor(owner, key)?.set);
  return {
    __proto__: null,
    Event: globalThis.Event,
    nextFrame: globalThis.requestAnimationFrame,
    matches: element?.matches,
    checkVisibility: element?.checkVisibility,
    isConnected: getterOf(prototypeNamed('Node'), 'isConnected'),
    textContent: getterOf(prototypeNamed('Node'), 'textContent'),
    ownerDocument: getterOf(prototypeNamed('Node'), 'ownerDocument'),
    execCommand: prototypeNamed('Document')?.execCommand,
    host: getterOf(prototypeNamed('ShadowRoot'), 'host'),
    isEditable: getterOf(prototypeNamed('HTMLElement'), 'isContentEditable'),
    innerText: getterOf(prototypeNamed('HTMLElement'), 'innerText'),
    labelled: getterOf(prototypeNamed('HTMLLabelElement'), 'control'),
    labels: getterOf(input, 'labels'),
    type: getterOf(input, 'type'),
    checked: getterOf(input, 'checked'),
    inputValue: getterOf(input, 'value'),
    setInputValue: setterOf(input, 'value'),
    areaValue: getterOf(area, 'value'),
    options: getterOf(list, 'options'),
    multiple: getterOf(list, 'multiple'),
    length: getterOf(collection, 'length'),
    item: collection?.item,
    optionValue: getterOf(option, 'value'),
    optionLabel: getterOf(option, 'label'),
    selected: getterOf(option, 'selected'),
    setSelected: setterOf(option, 'selected'),
    innerWidth: getterOf(globalThis, 'innerWidth'),
    innerHeight: getterOf(globalThis, 'innerHeight'),
    nodeAt: prototypeNamed('NodeList')?.item,
  };
}
