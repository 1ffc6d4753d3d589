// @ts-check
/**
 * Write any value as JSON text. What JSON can say is written as JSON.stringify would; what it cannot say
 * becomes a string in square brackets that names it, so that nothing disappears in silence.
 * Runs: main world. Getters and `toJSON` of the value do run; one that throws costs only its own place.
 * Throws the string 'too large' when the text would pass `bounds.chars`, and 'too entangled' when a class
 * instance holds more objects than `bounds.insiders`; with 0 of these, each such object is named by its class.
 * @param {Natives} natives
 * @param {unknown} root
 * @param {{chars: number, depth: number, insiders?: number}} bounds
 * @returns {string}
 */
function encodeValue(natives, root, bounds) {
  const { spend, quote } = makeWriter(natives, bounds.chars);
  let insiders = 0;

  /** @param {any} owner @param {PropertyKey} key @param {Ancestor | null} above @param {number} depth */
  function member(owner, key, above, depth) {
    let value;
    try {
      value = owner[key];
    } catch (thrown) {
      return quote(`[getter threw ${describeKind(natives, thrown)}]`);
    }
    return encode(value, above, depth);
  }

  /** @param {any} value @param {Ancestor | null} above @param {number} depth */
  function encodeObject(value, above, depth) {
    for (let seen = above; seen !== null; seen = seen.above) {
      if (seen.value === value) return quote('[circular]');
    }
    if (depth >= bounds.depth) return quote('[nested too deeply]');
    if (above?.inside && insiders-- <= 0) {
      if (bounds.insiders === 0) return quote(`[${className(natives, value)}]`);
      throw 'too entangled';
    }
    const here = { __proto__: null, value, above, inside: above !== null && above.inside };
    if (natives.isArray(value)) {
      let text = spend('[');
      const length = value.length;
      for (let i = 0; i < length; i++) text += (i ? spend(',') : '') + member(value, i, here, depth + 1);
      return text + spend(']');
    }
    const plain = plainForm(natives, value);
    if (plain !== value) return encode(plain, here, depth + 1);
    if (!here.inside && isInstance(natives, value)) {
      here.inside = true;
      insiders = bounds.insiders ?? Infinity;
    }
    let text = spend('{');
    const keys = natives.ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      const piece = member(value, keys[i], here, depth + 1);
      if (piece !== '') text += (text === '{' ? '' : spend(',')) + quote(keys[i]) + spend(':') + piece;
    }
    return text + spend('}');
  }

  /** @param {unknown} value @param {Ancestor | null} above @param {number} depth @returns {string} */
  function encode(value, above, depth) {
    if (value === null) return spend('null');
    switch (typeof value) {
      case 'string':
        return quote(value);
      case 'boolean':
        return spend(value ? 'true' : 'false');
      case 'object':
        return encodeObject(value, above, depth);
      default:
        return encodeOddity(natives, value, quote, spend);
    }
  }

  return encode(root, null, 0);
}
