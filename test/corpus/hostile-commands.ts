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
  "leaking a file's text in messages": TELLING,
  "leaking a file's text in pictures": SHOWING,
  "writing a file": WRITING,
  "opening a connection": CALLING,
  "running code": RUNNING,
}
