import { createRequire } from "node:module"
import { z } from "zod"

/** Returns the path of the workerd program of Miniflare's package. */
export function findWorkerdProgram(): string {
  const requireAsMiniflare = createRequire(import.meta.resolve("miniflare"))
  return z.object({ default: z.string() }).parse(requireAsMiniflare("workerd")).default
}
