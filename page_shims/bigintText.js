// @ts-check
/**
 * The digits of a BigInt. Of one that would take long to write only the size is said.
 * Runs: main world. Touches no page global.
 * @param {bigint} value
 * @returns {string}
 */
function bigintText(value) {
  let bits = 1000000n;
  if (value >> bits === 0n || value >> bits === -1n) return `${value}`;
  while (value >> (bits * 2n) !== 0n && value >> (bits * 2n) !== -1n) bits *= 2n;
  return `${value < 0n ? '-' : ''}2 to the power of ${bits} or more`;
}
