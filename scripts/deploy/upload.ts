import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { CliError } from "../cli/cli-error.ts"
import { readDeploymentRecord, writeDeploymentRecord } from "../cli/deployment-record.ts"
import { refreshCloudflareCredentials } from "./account.ts"
import type { CheckedDeployment } from "./checks.ts"
import { CLONE_FOLDER, writeWranglerConfig } from "./config.ts"
import type { WranglerConfig } from "./config.ts"
import { readDeployedWorker } from "./deployed.ts"
import { buildAndPushImages, pullBaseImage } from "./images/build.ts"
import { withWorkerSecretsFile } from "./secrets.ts"
import { parseJsonOutput, runWranglerOrThrow } from "./wrangler.ts"
import { createHash } from "node:crypto"
import { z } from "zod"
import { callCloudflareOrThrow } from "./cloudflare.ts"
import type { CloudflareAccount } from "./cloudflare.ts"
import {
  makeRegistryAuthorization,
  makeRegistryCredentials,
  IMAGE_REGISTRY,
} from "./images/registry.ts"

/** Length of the image tag: the first characters of the deployment's fingerprint. */
const TAG_LENGTH = 12

/**
 * Builds and deploys the Worker and the containers, unless the deployed version was built from the
 * same sources. Returns a summary.
 */
export async function deployWorker(
  deployment: CheckedDeployment,
  config: WranglerConfig,
  configPath: string,
  secrets: { toSend: Record<string, string>; removed: string[] },
): Promise<string> {
  const { id, api, name, deployed } = deployment
  const kept = readDeploymentRecord(id)
  const base = await pullBaseImage(kept.base)
  const fingerprint = fingerprintOf(config, base)
  const isSame =
    kept.deployed?.fingerprint === fingerprint && kept.deployed.versionId === deployed?.versionId
  const { toSend, removed } = secrets
  if (isSame && Object.keys(toSend).length === 0 && removed.length === 0)
    return "unchanged, since this clone is deployed"

  const logPath = join(dirname(configPath), "wrangler.log")
  writeFileSync(logPath, "")
  console.log(`Building and deploying, which takes minutes the first time. The log is ${logPath}`)
  const tag = fingerprint.slice(0, TAG_LENGTH)
  const built = await buildAndPushImages(config, { api, base, tag, logPath })
  writeWranglerConfig(id.stateDir, name, built)
  const before = await readImagesInUse(await refreshCloudflareCredentials(api))
  await runDeploy(configPath, toSend, logPath)
  const fresh = await refreshCloudflareCredentials(api)
  const versionId = (await readDeployedWorker(fresh, name))?.versionId
  if (!versionId) throw new CliError(`Cloudflare does not show the version; see ${logPath}`)
  const token = kept.nextOperatorToken ?? kept.operatorToken
  writeDeploymentRecord(id, {
    origin: deployment.origin,
    ...(token !== undefined && { operatorToken: token }),
    deployed: { fingerprint, versionId },
    base,
  })
  const pruned = await pruneImages(fresh, { config, configPath, before })
  const summary = `deployed version ${versionId}, with images on ${base}`
  return pruned === null ? summary : `${summary}; ${pruned}`
}

async function runDeploy(
  configPath: string,
  secrets: Record<string, string>,
  logPath: string,
): Promise<void> {
  const words = ["deploy", "--config", configPath]
  if (Object.keys(secrets).length === 0) {
    await runWranglerOrThrow(words, { logPath })
    return
  }
  await withWorkerSecretsFile(configPath, secrets, async (path) => {
    await runWranglerOrThrow([...words, "--secrets-file", path], { logPath })
  })
}

/** Patterns of the files from which the Worker, the documentation site and the image are built. */
const SOURCES = [
  "src/**/*",
  "docs/*.md",
  "docs/{coming-from,cookbook,errors,guide,operate}/**/*",
  "scripts/site/**/*",
  "container/**/*",
  "requirements/fetch.txt",
  "requirements/speech.txt",
  "package.json",
  "package-lock.json",
  ".dockerignore",
]
const LEFT_OUT = ["container/launcher/build/**"]

/** Returns a hash of the configuration, the base image and all source files of a deployment. */
function fingerprintOf(config: WranglerConfig, base: string): string {
  const hash = createHash("sha256").update(JSON.stringify([config, base]))
  const entries = globSync(SOURCES, { cwd: CLONE_FOLDER, exclude: LEFT_OUT, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.toSorted()) {
    hash.update(`\0${path.slice(CLONE_FOLDER.length)}\0`).update(readFileSync(path))
  }
  return hash.digest("hex")
}

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

/**
 * Images that the containers of the Cloudflare account use. `isRolling` is true while a roll-out is
 * unfinished, so that some containers may still run an older image.
 */
type ImagesInUse = { images: string[]; isRolling: boolean }

/** Reads the images that the containers of the account use. */
async function readImagesInUse(api: CloudflareAccount): Promise<ImagesInUse> {
  const all = await callCloudflareOrThrow(api, applications, { path: "/containers/applications" })
  return {
    images: all.flatMap(({ configuration }) => configuration?.image ?? []),
    isRolling: all.some(({ active_rollout_id: id }) => id !== undefined && id !== null),
  }
}

/**
 * Deletes old images of a deployment, except those that its containers run now or ran before the
 * deployment. Returns a summary, or null if nothing was deleted. Deletes nothing after the first
 * deployment, if no image changed, or while a roll-out is unfinished.
 */
async function pruneImages(
  api: CloudflareAccount,
  {
    config,
    configPath,
    before,
  }: { config: WranglerConfig; configPath: string; before: ImagesInUse },
): Promise<string | null> {
  const { images: after } = await readImagesInUse(api)
  const isSame = after.every((image) => before.images.includes(image))
  if (isSame || before.images.length === 0 || before.isRolling) return null
  const kept = [...before.images, ...after]
  // Deletes nothing if a reference has no digest, because the image that is in use is then unknown.
  if (kept.some((image) => image.includes(IMAGE_REGISTRY) && !image.includes("@"))) return null
  try {
    const pruned = await deleteOthers(api, { config, configPath, kept })
    return pruned.length > 0 ? `deleted the old images ${pruned.join(", ")}` : null
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return `old images stay, since they could not be deleted: ${error.message}`
  }
}

async function deleteOthers(
  api: CloudflareAccount,
  { config, configPath, kept }: { config: WranglerConfig; configPath: string; kept: string[] },
): Promise<string[]> {
  const keptDigests = new Set(kept.map((image) => image.split("@")[1]))
  const names = new Set(config.containers.map(({ name }) => name))
  const pruned: string[] = []
  const list = ["containers", "images", "list", "--json", "--config", configPath]
  const { stdout } = await runWranglerOrThrow(list)
  const listed = listedImages.parse(parseJsonOutput(stdout)).filter(({ name }) => names.has(name))
  const images = listed.flatMap(({ name, tags }) => tags.map((tag) => ({ name, tag })))
  if (images.length === 0) return pruned
  const key = makeRegistryAuthorization(await makeRegistryCredentials(api, ["pull"]))
  for (const { name, tag } of images) {
    const digest = await readDigestInRegistry(`${api.accountId}/${name}`, tag, key)
    // Keeps an image whose digest is unknown, because it may be the image that a container runs.
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
    const response = await fetch(`https://${IMAGE_REGISTRY}/v2/${repository}/manifests/${tag}`, {
      method: "HEAD",
      headers: { authorization: key, accept: MANIFESTS },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    return response.ok ? response.headers.get("docker-content-digest") : null
  } catch (error) {
    throw new CliError(`${IMAGE_REGISTRY} does not respond.`, { cause: error })
  }
}
