// @ts-check
/**
 * Write a value as JSON text, as JSON.stringify would: nothing is escaped and nothing is cut, for programs read it.
 * Runs: main world. Getters and `toJSON` of the value run; one that throws costs only its own place.
 * Throws the string 'too large' when the text would pass `bounds.chars`.
 * @param {Natives} natives
 * @param {unknown} root
 * @param {{chars: number, depth: number}} bounds
 * @returns {string}
 */
function writeJson(natives, root, bounds) {
  const classes = openTable(natives);
  let room = bounds.chars;

  /** @param {string} text */
  function spend(text) {
    room -= text.length;
    if (room < 0) throw 'too large';
    return text;
  }

  /** @param {string} text */
  function quote(text) {
    return spend(quoteText(natives, text));
  }

  /** @param {any} owner @param {string | number} key @param {number} depth @returns {string} */
  function member(owner, key, depth) {
    let value;
    try {
      value = owner[key];
      if (value !== null && typeof value === 'object') {
        value = jsonForm(natives, value, classOf(natives, classes, value, natives.prototypeOf(value)), `${key}`);
      }
    } catch (thrown) {
      return quote(`[threw ${thrownWords(natives, thrown)}]`);
    }
    return write(value, depth);
  }

  /** @param {any} value @param {number} depth */
  function writeObject(value, depth) {
    if (depth >= bounds.depth) return quote('[nested too deeply]');
    if (natives.isArray(value)) {
      let text = spend('[');
      const length = value.length;
      for (let i = 0; i < length; i++) text += spend(i ? ',' : '') + (member(value, i, depth + 1) || spend('null'));
      return text + spend(']');
    }
    let text = spend('{');
    const keys = natives.ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      const piece = member(value, keys[i], depth + 1);
      if (piece !== '') text += (text === '{' ? '' : spend(',')) + quote(keys[i]) + spend(':') + piece;
    }
    return text + spend('}');
  }

  /** @param {any} value @param {number} depth @returns {string} '' for what JSON leaves out */
  function write(value, depth) {
    if (value === null) return spend('null');
    switch (typeof value) {
      case 'string':
        return quote(value);
      case 'boolean':
        return spend(`${value}`);
      case 'number':
        return spend(value - value === 0 ? `${value}` : 'null');
      case 'object':
        return writeObject(value, depth);
      default:
        return '';
    }
  }

  return member({ __proto__: null, '': root }, '', 0);
}
