import { limitsOf, settingsOf } from "../../env.ts"
import type { PageContext } from "../context.ts"

/** The bytes that a file of the account may have. */
export function fileBytesMax(c: PageContext): number {
  return limitsOf(c.get("signedIn").account, settingsOf(c.env)).fileBytesMax
}
