import type { z } from "zod"

/**
 * Reports whether a schema refused a value because a number is too large, a text too long or a list
 * too long.
 */
export function hasTooBigZodIssue(error: z.ZodError): boolean {
  return error.issues.some(({ code }) => code === "too_big")
}
