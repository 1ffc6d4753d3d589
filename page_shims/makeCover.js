// @ts-check
/**
 * Make what puts a function of ours in the place of a method, so that page code sees the native one: the name, length,
 * descriptor and text of a proxy are those of its target, and `Function.prototype.toString` is covered to say so.
 * Runs: main world, document start.
 * @param {Natives} natives
 * @returns {Cover}
 */
function makeCover(natives) {
  /** @type {{__proto__: null, proxy: Function, native: Function}[]} */
  const covered = [];
  /** @type {Cover} */
  const cover = (owner, name, apply) => {
    const native = natives.propertyOf(owner, name).value;
    const proxy = new natives.Proxy(native, { __proto__: null, apply });
    appendTo(natives, covered, { __proto__: null, proxy, native });
    replaceMethod(natives, owner, name, proxy);
  };
  cover(natives.functionPrototype, 'toString', (target, self, given) => {
    let shown = self;
    for (let i = 0; i < covered.length; i++) {
      if (covered[i]?.proxy === self) shown = covered[i]?.native;
    }
    return natives.apply(target, shown, given);
  });
  return cover;
}
