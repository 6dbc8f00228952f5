import type { z } from "zod"

/** Whether something is refused for being too much, of whatever it is. */
export function isOversized(error: z.ZodError): boolean {
  return error.issues.some(({ code }) => code === "too_big")
}
