import { z } from "zod"
import { bundleModule } from "./programs.ts"

const OBJECTS = "d1:db"
const CLASS_NAME = "D1DatabaseObject"
/** Name of the module that makes the binding. */
const BINDING = "lathe:d1"

const innerBinding = z.looseObject({
  service: z.looseObject({ props: z.looseObject({ json: z.string() }) }),
})
const binding = z.looseObject({
  name: z.string(),
  wrapped: z
    .looseObject({ moduleName: z.string(), innerBindings: z.array(z.looseObject({})) })
    .optional(),
})
const props = z.object({ MINIFLARE_NAMESPACE: z.string() })
const worker = z.looseObject({
  bindings: z.array(binding).default([]),
  compatibilityFlags: z.array(z.string()).default([]),
})
const captured = z.looseObject({
  services: z.array(z.looseObject({ name: z.string(), worker: worker.optional() })),
  extensions: z.array(z.unknown()),
})

/** The texts of the modules that stand for Miniflare's D1, and the files that they were made of. */
export type D1Bundle = { object: string; binding: string; inputs: string[] }

/** Bundles the object that has a database, and the module that makes a binding to it. */
export async function bundleD1(objectPath = "scripts/local/d1/database.ts"): Promise<D1Bundle> {
  const paths = [objectPath, "scripts/local/d1/binding.ts"]
  const [object, made] = await Promise.all(paths.map(bundleModule))
  if (!object || !made) throw new Error("esbuild wrote nothing")
  const inputs = [...object.inputs, ...made.inputs]
  return { object: object.contents, binding: made.contents, inputs }
}

/**
 * Has Miniflare's configuration keep its D1 database where it is and ask it by RPC, where Miniflare
 * asks by HTTP and by way of another worker: docs/decisions/0038.
 */
export function replaceD1(given: unknown, { object, binding: made }: D1Bundle): unknown {
  const { services, extensions, ...rest } = captured.parse(given)
  return {
    ...rest,
    services: services.map((each) => {
      if (!each.worker) return each
      if (each.name === OBJECTS) return { ...each, worker: asObject(each.worker, object) }
      return { ...each, worker: { ...each.worker, bindings: each.worker.bindings.map(asOwn) } }
    }),
    extensions: [...extensions, { modules: [{ name: BINDING, internal: true, esModule: made }] }],
  }
}

function asObject(own: z.infer<typeof worker>, text: string): z.infer<typeof worker> {
  return {
    ...own,
    modules: [{ name: "database.js", esModule: text }],
    bindings: [],
    compatibilityFlags: [...own.compatibilityFlags, "js_rpc"],
  }
}

function asOwn(each: z.infer<typeof binding>): z.infer<typeof binding> {
  if (each.wrapped?.moduleName !== "cloudflare-internal:d1-api") return each
  const [inner] = z.tuple([innerBinding]).parse(each.wrapped.innerBindings)
  const { MINIFLARE_NAMESPACE: name } = props.parse(JSON.parse(inner.service.props.json))
  const objects = { className: CLASS_NAME, serviceName: OBJECTS }
  return {
    ...each,
    wrapped: {
      moduleName: BINDING,
      entrypoint: "makeBinding",
      innerBindings: [
        { name: "objects", durableObjectNamespace: objects },
        { name: "name", text: name },
      ],
    },
  }
}
