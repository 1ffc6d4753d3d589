// @ts-check
/**
 * Count an object inside of a class instance. Throws the sheet when that holds too many, or objects of too many
 * classes; `encodeInstance` catches it.
 * Runs: main world. Touches no page global.
 * @param {Sheet} sheet
 * @param {object} value
 * @param {Shape} shape
 * @returns {void}
 */
function noteInsider(sheet, value, shape) {
  if (sheet.insiders-- <= 0) throw sheet;
  if (shape.is === 'fields' && shape.instance && shape.about.countedFor !== sheet.instances) {
    shape.about.countedFor = sheet.instances;
    if (sheet.insideClasses-- <= 0) throw sheet;
  }
  sheet.noted = { value, before: sheet.noted };
}
