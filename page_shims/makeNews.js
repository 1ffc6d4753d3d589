// @ts-check
/**
 * A mailbox for one word at a time: `next` gives a promise for the next word, or for the one that waits already.
 * 'listener' (ask again) outweighs 'answers' (look again).
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @returns {News}
 */
function makeNews(natives) {
  let waiting = '';
  /** @type {((word: string) => void) | null} */
  let wake = null;
  return {
    tell(word) {
      if (wake !== null) {
        const deliver = wake;
        wake = null;
        deliver(word);
      } else if (waiting !== 'listener') {
        waiting = word;
      }
    },
    next() {
      return new natives.Promise(
        /** @param {(word: string) => void} resolve */ (resolve) => {
          if (waiting === '') {
            // Who waited before has left.
            if (wake !== null) wake('');
            wake = resolve;
          } else {
            resolve(waiting);
            waiting = '';
          }
        },
      );
    },
  };
}
