import type { Attack } from "./attack.ts"
import { CALLING } from "./hostile-calling.ts"
import { RUNNING } from "./hostile-code.ts"
import { LINKING } from "./hostile-movies.ts"
import { READING } from "./hostile-reading.ts"
import { SHOWING, TELLING } from "./hostile-showing.ts"
import { WRITING } from "./hostile-writing.ts"

/** Attacks by what they want. */
export const ATTACKS: Record<string, Attack[]> = {
  "reading a file": [...READING, ...LINKING],
  "having a file's text told": TELLING,
  "having a file's text shown": SHOWING,
  "writing a file": WRITING,
  "calling somebody": CALLING,
  "running code": RUNNING,
}
