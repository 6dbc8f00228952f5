import { z } from "zod"
import { findCloudflareResource } from "./cloudflare.ts"
import type { CloudflareAccount } from "./cloudflare.ts"
import type { WorkerVariables } from "./settings.ts"

/**
 * Properties of the Worker that is deployed now: settings, names of secrets, databases and version.
 */
export type DeployedWorker = {
  vars: WorkerVariables
  secretNames: string[]
  /** Ids of the D1 databases that the Worker is bound to. The databases may have been deleted. */
  databaseIds: string[]
  hasAnalytics: boolean
  /** Id of the deployed version; null if traffic is split between versions. */
  versionId: string | null
}

const binding = z.union([
  z.object({ type: z.literal("plain_text"), name: z.string(), text: z.string() }),
  z.object({ type: z.literal("json"), name: z.string(), json: z.json() }),
  z.object({ type: z.literal("d1"), name: z.string(), id: z.string() }),
  z.object({ type: z.literal("analytics_engine"), name: z.string() }),
  z.object({ type: z.string(), name: z.string() }).transform(() => null),
])
const workerSettings = z.object({ bindings: z.array(binding) })
const secretList = z.array(z.object({ name: z.string() }))
const deploymentList = z.object({
  deployments: z.array(z.object({ versions: z.array(z.object({ version_id: z.string() })) })),
})

/** Reads the deployed Worker with this name. Returns null if no such Worker is deployed. */
export async function readDeployedWorker(
  api: CloudflareAccount,
  name: string,
): Promise<DeployedWorker | null> {
  const worker = `/workers/scripts/${name}`
  const settings = await findCloudflareResource(api, workerSettings, `${worker}/settings`)
  if (!settings) return null
  const [secrets, list] = await Promise.all([
    findCloudflareResource(api, secretList, `${worker}/secrets`),
    findCloudflareResource(api, deploymentList, `${worker}/deployments`),
  ])
  const [version, ...others] = list?.deployments[0]?.versions ?? []
  return {
    vars: varsOf(settings.bindings),
    databaseIds: settings.bindings.flatMap((one) => (one?.type === "d1" ? one.id : [])),
    hasAnalytics: settings.bindings.some((one) => one?.type === "analytics_engine"),
    secretNames: (secrets ?? []).map((secret) => secret.name),
    versionId: version && others.length === 0 ? version.version_id : null,
  }
}

function varsOf(bindings: z.infer<typeof binding>[]): WorkerVariables {
  const vars: WorkerVariables = {}
  for (const one of bindings) {
    if (one?.type === "plain_text") vars[one.name] = one.text
    else if (one?.type === "json") vars[one.name] = one.json
  }
  return vars
}
