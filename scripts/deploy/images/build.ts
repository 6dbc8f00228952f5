import { z } from "zod"
import { BASE_IMAGE } from "../../image/docker.ts"
import { CliError } from "../../local/cli-error.ts"
import type { Config } from "../config.ts"
import { refreshCredentials } from "../account.ts"
import type { Cloudflare } from "../cloudflare.ts"
import { runProgram, tailOf } from "../run-program.ts"
import type { ProgramOptions, ProgramRun } from "../run-program.ts"
import { parseJson } from "../wrangler.ts"
import { REGISTRY, makeCredentials } from "./registry.ts"

/** wrangler and its containers run on this platform alone. */
const PLATFORM = "linux/amd64"

const repoDigests = z.array(z.string())

type Container = Config["containers"][number]

export type ImageBuild = {
  api: Cloudflare
  /** The base image with its digest. */
  base: string
  /** The tag of the images in the registry. */
  tag: string
  logPath: string
}

/**
 * Builds and pushes each image that the containers of a configuration differ in, once; answers the
 * configuration with these by their digests. A container whose image is no Dockerfile stays as it is.
 */
export async function buildImages(config: Config, build: ImageBuild): Promise<Config> {
  const images = new Map<string, string>()
  for (const container of config.containers.filter(isBuilt)) {
    const recipe = recipeOf(container)
    if (!images.has(recipe)) images.set(recipe, await buildImage(container, build))
  }
  return { ...config, containers: config.containers.map((each) => withImage(each, images)) }
}

/**
 * The newest base image, by its digest; where its registry does not answer, the one that was used last, if
 * there is one.
 */
export async function findBase(last: string | undefined): Promise<string> {
  const pull = await runDocker(["pull", "--platform", PLATFORM, BASE_IMAGE])
  const digest = pull.isOk ? await readDigest(BASE_IMAGE) : null
  if (digest !== null) return `${BASE_IMAGE}@${digest}`
  if (last !== undefined) {
    console.log(`The registry of ${BASE_IMAGE} does not answer: the base of the last image stays.`)
    return last
  }
  throw new CliError(`Docker does not get the base image ${BASE_IMAGE}:\n${tailOf(pull)}`)
}

function isBuilt({ image_build_context: context }: Container): boolean {
  return context !== undefined
}

/** Containers with the same recipe share an image. */
function recipeOf({ image, image_build_context: context, image_vars: vars }: Container): string {
  return JSON.stringify([image, context, vars])
}

function withImage(container: Container, images: ReadonlyMap<string, string>): Container {
  const image = images.get(recipeOf(container))
  if (image === undefined) return container
  const { image_build_context: _context, image_vars: _vars, ...rest } = container
  return { ...rest, image }
}

/** The image has the name of the first container that uses it, as it would have by wrangler alone. */
async function buildImage(container: Container, build: ImageBuild): Promise<string> {
  const {
    name,
    image: dockerfile,
    image_build_context: context = ".",
    image_vars: vars,
  } = container
  const { api, base, tag, logPath } = build
  const repository = `${REGISTRY}/${api.accountId}/${name}`
  const local = `${repository}:${tag}`
  const variables = Object.entries({ ...vars, BASE: base }).flatMap(([variable, value]) => [
    "--build-arg",
    `${variable}=${value}`,
  ])
  const form = ["--load", "--platform", PLATFORM, "--provenance=false"]
  await runDockerOrThrow(["build", ...form, "-t", local, ...variables, "-f", dockerfile, context], {
    logPath,
  })
  // A build may take longer than credentials last.
  const { username, password } = await makeCredentials(await refreshCredentials(api), [
    "push",
    "pull",
  ])
  const words = ["login", "--username", username, "--password-stdin", REGISTRY]
  await runDockerOrThrow(words, { input: password })
  await runDockerOrThrow(["push", local], { logPath })
  const digest = await readDigest(local)
  if (digest === null) throw new CliError(`Docker does not tell the digest of ${local}.`)
  return `${repository}@${digest}`
}

/** Runs the Docker client that wrangler uses, to its end. */
async function runDocker(words: string[], options: ProgramOptions = {}): Promise<ProgramRun> {
  return await runProgram(process.env["WRANGLER_DOCKER_BIN"] ?? "docker", words, options)
}

/** As `runDocker`; throws a CliError with the end of its output where it fails. */
async function runDockerOrThrow(words: string[], options: ProgramOptions): Promise<void> {
  const run = await runDocker(words, options)
  if (!run.isOk) throw new CliError(`docker ${words.slice(0, 1).join(" ")} said:\n${tailOf(run)}`)
}

/** The digest (`sha256:…`) that a local image has in its registry; null where Docker knows none. */
async function readDigest(image: string): Promise<string | null> {
  const { stdout } = await runDocker([
    "image",
    "inspect",
    image,
    "--format",
    "{{ json .RepoDigests }}",
  ])
  const { data = [] } = repoDigests.safeParse(parseJson(stdout))
  // An image that was pushed to several repositories may have a digest of each.
  const repository = image.replace(/:[^:/]*$/, "")
  const own = data.find((one) => one.startsWith(`${repository}@`)) ?? data[0]
  return own?.split("@")[1] ?? null
}
