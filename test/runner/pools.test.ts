import { builtinModules } from "node:module"
import { build } from "esbuild"
import { describe, expect, it } from "vitest"
import { unstable_readConfig } from "wrangler"
import { z } from "zod"
import { textModulesPlugin } from "../../scripts/build/worker.ts"
import { TASK_DEFINITIONS } from "../../src/kinds/registry.ts"
import { POOLS, computeContainerInstancesMax } from "../../src/bindings/pools.ts"
import type { PoolDefinition } from "../../src/bindings/pools.ts"

const config = z.object({
  vars: z.record(z.string(), z.unknown()),
  durable_objects: z.object({
    bindings: z.array(z.object({ name: z.string(), class_name: z.string() })),
  }),
  migrations: z.array(z.object({ new_sqlite_classes: z.array(z.string()).optional() })),
  containers: z.array(
    z.object({ class_name: z.string(), instance_type: z.string(), max_instances: z.number() }),
  ),
})

type Deployment = { config: z.infer<typeof config>; exported: string[] }

/** Returns the missing parts of a pool in wrangler.toml and src/index.ts, each with its remedy. */
function findMissing(
  name: string,
  pool: PoolDefinition,
  { config: deployed, exported }: Deployment,
) {
  const { className, binding, instances, instanceType } = pool
  const bound = deployed.durable_objects.bindings.find((each) => each.name === binding)
  const container = deployed.containers.find((each) => each.class_name === className)
  const made = deployed.migrations.flatMap((each) => each.new_sqlite_classes ?? [])
  const most = Number(deployed.vars[instances] ?? 0)
  const checks: [boolean, string][] = [
    [exported.includes(className), `src/index.ts exports no class ${className}`],
    [
      bound?.class_name === className,
      `wrangler.toml has no [[durable_objects.bindings]] ${binding} of class ${className}`,
    ],
    [
      made.includes(className),
      `wrangler.toml has no [[migrations]] with ${className} in new_sqlite_classes`,
    ],
    [container !== undefined, `wrangler.toml has no [[containers]] of class ${className}`],
    [
      !container || container.instance_type === instanceType,
      `wrangler.toml: instance_type of ${className} is ${container?.instance_type}, not ${instanceType}`,
    ],
    [most > 0, `wrangler.toml has no ${instances} in [vars]`],
    [
      !container || container.max_instances === computeContainerInstancesMax(most),
      `wrangler.toml: max_instances of ${className} is ${container?.max_instances}, and ${instances} is ${most}`,
    ],
  ]
  return checks.flatMap(([holds, problem]) => (holds ? [] : [`${name}: ${problem}`]))
}

async function readDeployment(): Promise<Deployment> {
  const { metafile } = await build({
    entryPoints: ["src/index.ts"],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "import"],
    external: ["cloudflare:*", "node:*", ...builtinModules],
    plugins: [textModulesPlugin],
    outfile: "index.js",
    logLevel: "silent",
  })
  const exported = Object.values(metafile.outputs).flatMap((output) => output.exports)
  return { config: config.parse(unstable_readConfig({ config: "wrangler.toml" })), exported }
}

describe("a pool of runners", () => {
  it.each(Object.entries(POOLS))("%s is deployed as its entry says", async (name, pool) => {
    expect(findMissing(name, pool, await readDeployment())).toEqual([])
  })

  it("has each missing part reported with its place", async () => {
    const deployment = await readDeployment()
    const other = { ...POOLS.media, className: "OtherRunner", binding: "OTHER_RUNNER" }
    expect(findMissing("other", other, deployment)).toEqual([
      "other: src/index.ts exports no class OtherRunner",
      "other: wrangler.toml has no [[durable_objects.bindings]] OTHER_RUNNER of class OtherRunner",
      "other: wrangler.toml has no [[migrations]] with OtherRunner in new_sqlite_classes",
      "other: wrangler.toml has no [[containers]] of class OtherRunner",
    ])
    const bigger = { ...POOLS.light, instanceType: "standard-4" as const }
    expect(findMissing("light", bigger, deployment)).toEqual([
      "light: wrangler.toml: instance_type of LightRunner is basic, not standard-4",
    ])
  })

  it.each([
    [1, 3],
    [4, 6],
    [5, 8],
    [10, 15],
  ])("of %i slots may have %i instances while some drain", (slots, instances) => {
    expect(computeContainerInstancesMax(slots)).toBe(instances)
  })

  it.each(TASK_DEFINITIONS)("exists for tasks of the kind $name", (definition) => {
    for (const input_bytes of [0, 2 ** 40]) {
      const pool = definition.pool({ kind: definition.name, input_bytes })
      // The message of a failure names the missing pool.
      expect(Object.keys(POOLS)).toContain(pool)
    }
  })
})
