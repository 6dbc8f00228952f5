import { createRequire } from "node:module"
import { z } from "zod"

/** Path of the workerd that Miniflare comes with. */
export function findWorkerd(): string {
  const requireAsMiniflare = createRequire(import.meta.resolve("miniflare"))
  return z.object({ default: z.string() }).parse(requireAsMiniflare("workerd")).default
}
