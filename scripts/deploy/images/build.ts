import { z } from "zod"
import { BASE_IMAGE } from "../../image/docker.ts"
import { CliError } from "../../cli/cli-error.ts"
import type { WranglerConfig } from "../config.ts"
import { refreshCloudflareCredentials } from "../account.ts"
import type { CloudflareAccount } from "../cloudflare.ts"
import { runProgram, takeLastOutputLines } from "../run-program.ts"
import type { ProgramOptions, ProgramResult } from "../run-program.ts"
import { parseJsonOutput } from "../wrangler.ts"
import { IMAGE_REGISTRY, makeRegistryCredentials } from "./registry.ts"

/** Platform of the images, because Cloudflare's containers support no other platform. */
const PLATFORM = "linux/amd64"

const repoDigests = z.array(z.string())

type Container = WranglerConfig["containers"][number]

export type ImageBuildOptions = {
  api: CloudflareAccount
  /** Reference of the base image, with its digest. */
  base: string
  /** Tag of the images in the registry. */
  tag: string
  logPath: string
}

/**
 * Builds and pushes the images of a configuration's containers, each different image once. Returns
 * the configuration with references to the pushed images by digest. Leaves out containers whose
 * image is not built from a Dockerfile.
 */
export async function buildAndPushImages(
  config: WranglerConfig,
  build: ImageBuildOptions,
): Promise<WranglerConfig> {
  const images = new Map<string, string>()
  for (const container of config.containers.filter(isBuilt)) {
    const recipe = recipeOf(container)
    if (!images.has(recipe)) images.set(recipe, await buildImage(container, build))
  }
  return { ...config, containers: config.containers.map((each) => withImage(each, images)) }
}

/**
 * Pulls the newest base image, and returns its reference with the digest. If the registry does not
 * respond, returns `last`, the reference that was used last. Throws a CliError without such a
 * reference.
 */
export async function pullBaseImage(last: string | undefined): Promise<string> {
  const pull = await runDocker(["pull", "--platform", PLATFORM, BASE_IMAGE])
  const digest = pull.isOk ? await readDigest(BASE_IMAGE) : null
  if (digest !== null) return `${BASE_IMAGE}@${digest}`
  if (last !== undefined) {
    console.log(`The registry of ${BASE_IMAGE} does not respond: the base of the last image stays.`)
    return last
  }
  throw new CliError(
    `Docker cannot pull the base image ${BASE_IMAGE}:\n${takeLastOutputLines(pull)}`,
  )
}

function isBuilt({ image_build_context: context }: Container): boolean {
  return context !== undefined
}

/**
 * Returns a text that identifies the image of a container. Containers with the same text share an
 * image.
 */
function recipeOf({ image, image_build_context: context, image_vars: vars }: Container): string {
  return JSON.stringify([image, context, vars])
}

function withImage(container: Container, images: ReadonlyMap<string, string>): Container {
  const image = images.get(recipeOf(container))
  if (image === undefined) return container
  const { image_build_context: _context, image_vars: _vars, ...rest } = container
  return { ...rest, image }
}

/**
 * Builds and pushes the image of a container. Returns the image's reference with the digest. The
 * image has the name of the first container that uses it, as with `wrangler deploy`.
 */
async function buildImage(container: Container, build: ImageBuildOptions): Promise<string> {
  const {
    name,
    image: dockerfile,
    image_build_context: context = ".",
    image_vars: vars,
  } = container
  const { api, base, tag, logPath } = build
  const repository = `${IMAGE_REGISTRY}/${api.accountId}/${name}`
  const local = `${repository}:${tag}`
  const variables = Object.entries({ ...vars, BASE: base }).flatMap(([variable, value]) => [
    "--build-arg",
    `${variable}=${value}`,
  ])
  const form = ["--load", "--platform", PLATFORM, "--provenance=false"]
  await runDockerOrThrow(["build", ...form, "-t", local, ...variables, "-f", dockerfile, context], {
    logPath,
  })
  // Renews the credentials, because a build may take longer than the credentials are valid.
  const { username, password } = await makeRegistryCredentials(
    await refreshCloudflareCredentials(api),
    ["push", "pull"],
  )
  const words = ["login", "--username", username, "--password-stdin", IMAGE_REGISTRY]
  await runDockerOrThrow(words, { input: password })
  await runDockerOrThrow(["push", local], { logPath })
  const digest = await readDigest(local)
  if (digest === null) throw new CliError(`Docker returns no digest of ${local}.`)
  return `${repository}@${digest}`
}

/** Runs the Docker client that wrangler uses, until the client ends. */
async function runDocker(words: string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  return await runProgram(process.env["WRANGLER_DOCKER_BIN"] ?? "docker", words, options)
}

/** Runs the Docker client. If the client fails, throws a CliError with the end of its output. */
async function runDockerOrThrow(words: string[], options: ProgramOptions): Promise<void> {
  const run = await runDocker(words, options)
  if (!run.isOk)
    throw new CliError(`docker ${words.slice(0, 1).join(" ")} said:\n${takeLastOutputLines(run)}`)
}

/**
 * Returns the digest (`sha256:…`) that a local image has in its registry. Returns null if Docker
 * knows no digest of the image.
 */
async function readDigest(image: string): Promise<string | null> {
  const { stdout } = await runDocker([
    "image",
    "inspect",
    image,
    "--format",
    "{{ json .RepoDigests }}",
  ])
  const { data = [] } = repoDigests.safeParse(parseJsonOutput(stdout))
  // Prefers the digest of the image's own repository, because an image that was pushed to several
  // repositories has several digests.
  const repository = image.replace(/:[^:/]*$/, "")
  const own = data.find((one) => one.startsWith(`${repository}@`)) ?? data[0]
  return own?.split("@")[1] ?? null
}
