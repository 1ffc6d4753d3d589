// @ts-check
/**
 * Whether a string reads like a marker, with or without backslashes before it. docs/values.md lists the markers.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {string} text
 * @returns {boolean}
 */
function isMarker(natives, text) {
  let start = 0;
  while (text[start] === '\\') start++;
  const end = text.length - 1;
  if (text[start] !== '[' || text[end] !== ']') return false;
  let space = ++start;
  while (space < end && space < start + 20 && text[space] !== ' ') space++;
  const word = natives.apply(natives.sliceString, text, [start, space]);
  if (space === end) {
    switch (word) {
      case '-0':
      case 'NaN':
      case 'Infinity':
      case '-Infinity':
      case 'undefined':
      case 'hole':
      case 'promise':
      case 'symbol':
      case 'circular':
      case 'Window':
        return true;
      default:
        return false;
    }
  }
  const content = natives.apply(natives.sliceString, text, [space + 1, end]);
  switch (text[space] === ' ' ? word : '') {
    case 'class':
    case 'function':
    case 'symbol':
    case 'threw':
    case 'url':
    case 'document':
    case 'node':
      return true;
    case 'bigint':
      return content[0] === '-' || (content[0] >= '0' && content[0] <= '9');
    case 'date':
      return content === 'invalid' || content[content.length - 1] === 'Z';
    case 'regexp':
    case 'circular':
      return content[0] === '/';
    case 'same':
      return natives.apply(natives.sliceString, content, [0, 4]) === 'as /';
    case 'blob':
    case 'file':
      return natives.apply(natives.sliceString, content, [-5]) === 'bytes';
    case 'nested':
      return content === 'too deeply';
    case 'not':
      return natives.apply(natives.sliceString, content, [0, 7]) === 'shown: ';
    default:
      if (!(word[0] >= '0' && word[0] <= '9')) return false;
      const count = `${word} ${content}`;
      return isCount(natives, count, 'hole') || isCount(natives, count, 'more item');
  }
}
