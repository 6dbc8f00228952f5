import { z } from "zod"
import { bundleModule } from "./programs.ts"

const OBJECTS = "d1:db"
const CLASS_NAME = "D1DatabaseObject"
/** Name of the workerd module that makes the D1 binding. */
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

/**
 * Bundled sources of the modules that replace Miniflare's D1, and the paths of their source files.
 */
export type D1ModuleBundles = { object: string; binding: string; inputs: string[] }

/**
 * Bundles the Durable Object of a D1 database, and the module that makes the database's binding.
 */
export async function bundleD1Modules(
  objectPath = "scripts/start/worker/d1/database.ts",
): Promise<D1ModuleBundles> {
  const paths = [objectPath, "scripts/start/worker/d1/binding.ts"]
  const [object, bundle] = await Promise.all(paths.map(bundleModule))
  if (!object || !bundle) throw new Error("esbuild wrote nothing")
  const inputs = [...object.inputs, ...bundle.inputs]
  return { object: object.contents, binding: bundle.contents, inputs }
}

/**
 * Replaces D1 in Miniflare's configuration. The database files stay where they are. The binding
 * calls the database's object by RPC, instead of HTTP through another worker (docs/decisions/0038).
 */
export function replaceMiniflareD1(
  options: unknown,
  { object, binding: bundle }: D1ModuleBundles,
): unknown {
  const { services, extensions, ...rest } = captured.parse(options)
  return {
    ...rest,
    services: services.map((each) => {
      if (!each.worker) return each
      if (each.name === OBJECTS) return { ...each, worker: asObject(each.worker, object) }
      return { ...each, worker: { ...each.worker, bindings: each.worker.bindings.map(asOwn) } }
    }),
    extensions: [...extensions, { modules: [{ name: BINDING, internal: true, esModule: bundle }] }],
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
      entrypoint: "makeD1Binding",
      innerBindings: [
        { name: "objects", durableObjectNamespace: objects },
        { name: "name", text: name },
      ],
    },
  }
}
