// @ts-check
/**
 * Write an instance of a class that is in no other one. One that holds too many objects, or objects of too many
 * classes, is taken for the inside of a framework, where each part leads to all others: it is written anew by its own
 * fields, and objects in them are named. Each time that happens, the next one may hold half as many.
 * Runs: main world. As `encodeValue`; getters of such an instance run twice.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {Extract<Shape, {is: 'fields'}>} shape
 * @param {Place} place
 * @returns {string}
 */
function encodeInstance(natives, sheet, shape, place) {
  const { room } = sheet;
  sheet.instances++;
  sheet.insiders = sheet.insiderLimit;
  sheet.insideClasses = sheet.bounds.classes;
  sheet.noted = null;
  try {
    return encodeFields(natives, sheet, shape, place);
  } catch (thrown) {
    if (thrown !== sheet) throw thrown;
    let noted = /** @type {Noted | null} */ (sheet.noted);
    for (; noted !== null; noted = noted.before) sheet.seen.delete(noted.value);
    sheet.room = room;
    sheet.insiderLimit = sheet.insiderLimit >> 1;
    sheet.insiders = Infinity;
    sheet.shallow = true;
    return encodeFields(natives, sheet, shape, place);
  } finally {
    sheet.shallow = false;
    sheet.insiders = Infinity;
  }
}
