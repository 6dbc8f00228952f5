import { parseTime } from "../../../../contract/media-time.ts"

/** Why a stream never ends: the option that makes it so, a sentence's half, and what would end it. */
export type Endless = { option: string; why: string; mend: string | null }

/** What becomes of a stream; null where it ends, or that is not known. */
export type Fate = Endless | null

/** What would take longer than this never ends either; no job may take so long. */
export const LASTING_HOURS = 1000
const LASTING_SECONDS = LASTING_HOURS * 3600
/** More frames than any job may make. */
export const LASTING_FRAMES = LASTING_SECONDS * 60
/** More samples of sound. */
export const LASTING_SAMPLES = LASTING_SECONDS * 192_000
/** The shortest that a repeated file is taken to be, where its length is not known. */
const SHORTEST_SECONDS = 0.04

/** Whether a length as it is written bounds anything; one that cannot be read may. */
export function isBound(time: string): boolean {
  const seconds = parseTime(time)
  return seconds === null || seconds <= LASTING_SECONDS
}

/** Whether a file that is repeated so often lasts as if it had no end; less than 0 times is for ever. */
export function isRepeatedForEver(times: number, seconds: number | undefined): boolean {
  return times < 0 || times * (seconds || SHORTEST_SECONDS) > LASTING_SECONDS
}

/** Of several streams, the first that never ends where any of them is so. */
export function anyOf(fates: readonly Fate[]): Fate {
  return fates.find((fate) => fate !== null) ?? null
}

/** Of several streams, the first of them where none of them ends. */
export function allOf(fates: readonly Fate[]): Fate {
  return fates.includes(null) ? null : (fates[0] ?? null)
}
