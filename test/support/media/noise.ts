const FIRST_WIDE = 0x4e00
const WIDE = 20_000
const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/**
 * Returns pseudorandom characters that compress badly, the same for each seed. With `wide`, each
 * character takes three bytes in UTF-8.
 */
export function makeIncompressibleText(length: number, { wide = false, seed = 1 } = {}): string {
  let state = seed
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const value = state >>> 8
    return wide
      ? String.fromCharCode(FIRST_WIDE + (value % WIDE))
      : PLAIN.charAt(value % PLAIN.length)
  }).join("")
}
