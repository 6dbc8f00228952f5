import { z } from "zod"
import { CliError } from "../../local/cli-error.ts"
import { callOrThrow } from "../cloudflare.ts"
import type { Cloudflare } from "../cloudflare.ts"
import type { Config } from "../config.ts"
import { parseJson, runWranglerOrThrow } from "../wrangler.ts"
import { REGISTRY, authorizationOf, makeCredentials } from "./registry.ts"

const ANSWER_MS_MAX = 60_000
const MANIFESTS =
  "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, " +
  "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"

const applications = z.array(
  z.object({
    name: z.string(),
    configuration: z.looseObject({ image: z.string().optional() }).optional(),
    active_rollout_id: z.string().nullish(),
  }),
)
const listedImages = z.array(z.object({ name: z.string(), tags: z.array(z.string()) }))

/** The images that containers run, and whether some of them may still run an older one. */
export type ImagesInUse = { images: string[]; isRolling: boolean }

/** Reads which images the containers of the account use. */
export async function readImagesInUse(api: Cloudflare): Promise<ImagesInUse> {
  const all = await callOrThrow(api, applications, { path: "/containers/applications" })
  return {
    images: all.flatMap(({ configuration }) => configuration?.image ?? []),
    isRolling: all.some(({ active_rollout_id: id }) => id !== undefined && id !== null),
  }
}

/**
 * Deletes the images of a deployment but those that its containers run and ran before, and says how many. It
 * deletes none where the deployment is the first or changed no image, and none that an unfinished roll-out may still run.
 */
export async function pruneImages(
  api: Cloudflare,
  { config, configPath, before }: { config: Config; configPath: string; before: ImagesInUse },
): Promise<string | null> {
  const { images: after } = await readImagesInUse(api)
  const isSame = after.every((image) => before.images.includes(image))
  if (isSame || before.images.length === 0 || before.isRolling) return null
  const kept = [...before.images, ...after]
  // A reference without a digest does not tell which image it was.
  if (kept.some((image) => image.includes(REGISTRY) && !image.includes("@"))) return null
  try {
    const pruned = await deleteOthers(api, { config, configPath, kept })
    return pruned.length > 0 ? `deleted the old images ${pruned.join(", ")}` : null
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return `old images stay, since they could not be deleted: ${error.message}`
  }
}

async function deleteOthers(
  api: Cloudflare,
  { config, configPath, kept }: { config: Config; configPath: string; kept: string[] },
): Promise<string[]> {
  const keptDigests = new Set(kept.map((image) => image.split("@")[1]))
  const names = new Set(config.containers.map(({ name }) => name))
  const pruned: string[] = []
  const list = ["containers", "images", "list", "--json", "--config", configPath]
  const { stdout } = await runWranglerOrThrow(list)
  const listed = listedImages.parse(parseJson(stdout)).filter(({ name }) => names.has(name))
  const images = listed.flatMap(({ name, tags }) => tags.map((tag) => ({ name, tag })))
  if (images.length === 0) return pruned
  const key = authorizationOf(await makeCredentials(api, ["pull"]))
  for (const { name, tag } of images) {
    const digest = await readDigestInRegistry(`${api.accountId}/${name}`, tag, key)
    // An image that does not tell its digest may be one that runs.
    if (digest === null || keptDigests.has(digest)) continue
    const words = ["containers", "images", "delete", `${name}:${tag}`, "--skip-confirmation"]
    await runWranglerOrThrow([...words, "--config", configPath])
    pruned.push(`${name}:${tag}`)
  }
  return pruned
}

async function readDigestInRegistry(
  repository: string,
  tag: string,
  key: string,
): Promise<string | null> {
  try {
    const response = await fetch(`https://${REGISTRY}/v2/${repository}/manifests/${tag}`, {
      method: "HEAD",
      headers: { authorization: key, accept: MANIFESTS },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    return response.ok ? response.headers.get("docker-content-digest") : null
  } catch (error) {
    throw new CliError(`${REGISTRY} does not answer.`, { cause: error })
  }
}
