// @ts-check
/**
 * Write a text that may be long. What does not fit is cut, and the text says how much is missing.
 * Runs: main world. Touches no page global.
 * @param {Natives} natives
 * @param {Sheet} sheet
 * @param {string} text
 * @param {number} most how many of its characters may be written
 * @param {(text: string, whole: boolean) => string} write how the text, or its head and what is missing, is written
 * @returns {string}
 */
function writeText(natives, sheet, text, most, write) {
  const { room } = sheet;
  let chars = text.length < most ? text.length : most;
  if (chars > room) chars = room > 0 ? room : 0;
  for (;;) {
    const whole = chars === text.length;
    const written = write(whole ? text : clipText(natives, text, chars), whole);
    const cost = costOf(natives, written);
    if (cost <= room + 100 || chars <= 20) {
      sheet.room -= cost;
      return written;
    }
    const fitting = (chars * room) / cost;
    chars = (fitting * 0.9) >> 0;
  }
}
