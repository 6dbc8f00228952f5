import { CliError } from "../../local/cli-error.ts"
import type { Config } from "../config.ts"
import { refreshCredentials } from "../account.ts"
import type { Cloudflare } from "../cloudflare.ts"
import { REGISTRY, makeCredentials } from "./registry.ts"
import { PLATFORM, readDigest, runDockerOrThrow } from "./docker.ts"

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
