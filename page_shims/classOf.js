// @ts-check
/**
 * What an object's prototypes say of it. The prototypes of built-ins are known by identity; those of another frame by
 * their name, which the readers check. Looked at once for each prototype.
 * Runs: main world. Traps of a proxy run, and may throw.
 * @param {Natives} natives
 * @param {ObjectTable} classes what was looked at
 * @param {any} value
 * @param {any} prototype
 * @returns {ClassInfo}
 */
function classOf(natives, classes, value, prototype) {
  const known = classes.get(prototype);
  if (known !== undefined) return known;
  const { hasOwn, mapGet } = natives.readers;
  /** @type {ClassInfo} */
  const about = { __proto__: null, kind: '', name: '', json: false, fakes: 0, countedFor: 0 };
  let jsonAbove = -1;
  let root = prototype;
  for (let at = prototype, step = 0; at !== null && step < 50; step++) {
    root = at;
    const above = natives.prototypeOf(at);
    if (about.kind === '') about.kind = natives.apply(mapGet, natives.kinds, [at]) ?? '';
    if (above !== null) {
      if (about.name === '') about.name = classNameAt(natives, at);
      if (about.kind === '' && hasOwn(at, 'then') && hasOwn(at, 'catch')) about.kind = 'Promise';
      if (jsonAbove < 0 && hasOwn(at, 'toJSON')) jsonAbove = natives.prototypeOf(above) === null ? 1 : 2;
    }
    at = above;
  }
  if (about.kind === '' && root !== null && root !== natives.objectPrototype) about.kind = foreignKind(natives, value);
  // The toJSON of a built-in itself says less than we do.
  about.json = jsonAbove > (about.kind === '' ? 0 : 1);
  classes.set(prototype, about);
  return about;
}
