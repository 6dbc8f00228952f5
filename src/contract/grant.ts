/**
 * Whether a word that carries a slot's grant comes too late: grants rise, and what was said under a
 * lower one belongs to whoever had the slot before.
 */
export function isLateGrant(grant: number, highest: number): boolean {
  return grant < highest
}
