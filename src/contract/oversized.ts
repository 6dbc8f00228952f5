import type { z } from "zod"

/** Reports whether a schema refused a value as too large, too long or too many. */
export function hasTooBigIssue(error: z.ZodError): boolean {
  return error.issues.some(({ code }) => code === "too_big")
}
