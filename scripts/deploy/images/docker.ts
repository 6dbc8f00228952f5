import { z } from "zod"
import { CliError } from "../../local/cli-error.ts"
import { runProgram, tailOf } from "../run-program.ts"
import type { ProgramOptions, ProgramRun } from "../run-program.ts"
import { parseJson } from "../wrangler.ts"

/** wrangler and its containers run on this platform alone. */
export const PLATFORM = "linux/amd64"

const repoDigests = z.array(z.string())

/** Runs the Docker client that wrangler uses, to its end. */
export async function runDocker(
  words: string[],
  options: ProgramOptions = {},
): Promise<ProgramRun> {
  return await runProgram(process.env["WRANGLER_DOCKER_BIN"] ?? "docker", words, options)
}

/** As `runDocker`; throws a CliError with the end of its output where it fails. */
export async function runDockerOrThrow(words: string[], options: ProgramOptions): Promise<void> {
  const run = await runDocker(words, options)
  if (!run.isOk) throw new CliError(`docker ${words.slice(0, 1).join(" ")} said:\n${tailOf(run)}`)
}

/** The digest (`sha256:…`) that a local image has in its registry; null where Docker knows none. */
export async function readDigest(image: string): Promise<string | null> {
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
