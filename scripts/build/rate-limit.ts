import { z } from "zod"
import { bundleModule } from "./programs.ts"
import type { Bundle } from "./programs.ts"

/** Name of the module that makes the binding. */
const BINDING = "lathe:rate-limit"
const MINIFLARES = "cloudflare-internal:ratelimit:module"

const binding = z.looseObject({
  wrapped: z
    .looseObject({
      moduleName: z.string(),
      innerBindings: z.array(z.looseObject({ name: z.string() })),
    })
    .optional(),
})
const worker = z.looseObject({ bindings: z.array(binding).default([]) })
const captured = z.looseObject({
  services: z.array(z.looseObject({ worker: worker.optional() })),
  extensions: z.array(z.unknown()),
})

/** Bundles the module that makes a rate limit binding. */
export async function bundleRateLimit(): Promise<Bundle> {
  return await bundleModule("scripts/local/rate-limit.ts")
}

/**
 * Has the rate limits of Miniflare's configuration count in memory, where Miniflare's write each count
 * to a file: docs/decisions/0049.
 */
export function replaceRateLimits(given: unknown, made: Bundle): unknown {
  const { services, extensions, ...rest } = captured.parse(given)
  return {
    ...rest,
    services: services.map((each) => {
      if (!each.worker) return each
      return { ...each, worker: { ...each.worker, bindings: each.worker.bindings.map(asOwn) } }
    }),
    extensions: [
      ...extensions,
      { modules: [{ name: BINDING, internal: true, esModule: made.contents }] },
    ],
  }
}

function asOwn(each: z.infer<typeof binding>): z.infer<typeof binding> {
  if (each.wrapped?.moduleName !== MINIFLARES) return each
  const numbers = each.wrapped.innerBindings.filter(({ name }) => name !== "fetcher")
  const wrapped = { moduleName: BINDING, entrypoint: "makeBinding", innerBindings: numbers }
  return { ...each, wrapped }
}
