import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { startContainer } from "../../scripts/image/docker.ts"
import { findFreePort } from "../../scripts/cli/ports.ts"
import { replaceFileKeysByNames } from "../../src/ffmpeg/file-keys.ts"
import { makeWorkspaceInputName } from "../../src/contract/task.ts"
import { callRunner, listen, makeOrder, waitFor } from "../container/harness.ts"
import { bring, outputsOf } from "../corpus/attack.ts"
import type { Attack } from "../corpus/attack.ts"
import type { CanaryPaths, Evidence } from "../corpus/canaries.ts"
import { wordsOf } from "../corpus/fixtures.ts"
import { makeFakeIoServer } from "../support/runner/io-server.ts"

const RUN_SECONDS_MAX = 20
const LAST = new Set(["finished", "failed", "interrupted"])

type Folders = { work: string; state: string }

/**
 * A container whose runner this process calls, and which shares its network and temporary files.
 */
export type AttackedRunner = AsyncDisposable & {
  id: string
  origin: string
  token: string
  folders: Folders
}

/** Evidence that an attack left, and whether ffmpeg reports success. */
export type AttackEvidence = { evidence: Evidence; isDone: boolean }

const failedRun = z.object({ stderr: z.string() })
const run = promisify(execFile)

/** Starts it with these folders at the same paths, `work` being that of its workspaces. */
export async function openRunner(folders: Folders, options: string[]): Promise<AttackedRunner> {
  const port = await findFreePort()
  const token = randomBytes(24).toString("hex")
  const environment = {
    RUNNER_HOST: "127.0.0.1",
    RUNNER_PORT: String(port),
    RUNNER_TOKEN: token,
    RUNNER_NETWORK: "none",
    WORK_DIR: folders.work,
  }
  const container = await startContainer([
    ...options,
    ...Object.entries(environment).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    "--network",
    "host",
    "--volume",
    `${tmpdir()}:${tmpdir()}`,
  ])
  const origin = `http://127.0.0.1:${port}`
  return { ...container, origin, token, folders }
}

/**
 * Hands the commands of an attack to the runner as they are, without the service that judges them.
 */
export async function attackInside(
  { origin, token }: AttackedRunner,
  attack: Attack,
  place: CanaryPaths,
): Promise<AttackEvidence> {
  const brought = await bring(attack, place)
  const outputs = Object.entries(outputsOf(attack))
  const io = makeFakeIoServer("a-token")
  for (const { key, content } of brought) io.inputs.set(key, content)
  const server = await listen({ fetch: (request) => io.fetch(request) })
  try {
    const order = makeOrder({
      io,
      ioOrigin: server.origin,
      commands: linesOf(attack, place, brought),
      more: {
        inputs: brought.map(({ key, name, content }) => ({
          key,
          name: makeWorkspaceInputName(key, name),
          size_bytes: content.length,
        })),
      },
    })
    const work = {
      ...order.work,
      outputs: outputs.map(([key, name]) => ({ key, name })),
      run_seconds_max: RUN_SECONDS_MAX,
    }
    const answer = await callRunner(`${origin}/tasks`, "POST", { ...order, work }, token)
    if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`)
    const last = await waitFor(
      () => io.reports.find(({ kind }) => LAST.has(kind)),
      2 * RUN_SECONDS_MAX,
    )
    const names = new Map(outputs)
    const stored = Array.from(io.outputs, ([key, { bytes }]) => [names.get(key) ?? key, bytes])
    const evidence = { reports: JSON.stringify(io.reports), ...Object.fromEntries(stored) }
    return { evidence, isDone: last.kind === "finished" }
  } finally {
    server.close()
  }
}

/** Runs the commands of an attack in the container with nothing around the image's ffmpeg. */
export async function attackBare(
  { id }: AttackedRunner,
  attack: Attack,
  place: CanaryPaths,
): Promise<AttackEvidence> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-bare-"))
  try {
    await chmod(folder, 0o777)
    const brought = await bring(attack, place)
    const own = new Set(brought.map(({ key, name }) => makeWorkspaceInputName(key, name)))
    for (const { key, name, content } of brought) {
      await writeFile(join(folder, makeWorkspaceInputName(key, name)), content)
    }
    const evidence: Evidence = {}
    let isDone = true
    for (const words of linesOf(attack, place, brought)) {
      const limited = ["timeout", "-s", "KILL", String(RUN_SECONDS_MAX), "ffmpeg"]
      const argv = ["exec", "--workdir", folder, id, ...limited, "-nostdin", "-hide_banner", "-y"]
      const ended = run("docker", [...argv, ...words], { maxBuffer: 2 ** 28 })
      const { stderr, isOk } = await ended.then(
        (end) => ({ ...end, isOk: true }),
        (error: unknown) => ({ ...failedRun.parse(error), isOk: false }),
      )
      evidence["log"] = `${String(evidence["log"] ?? "")}${stderr}`
      isDone &&= isOk
    }
    for (const name of (await readdir(folder)).filter((each) => !own.has(each))) {
      evidence[name] = await readFile(join(folder, name)).catch(() => "")
    }
    return { evidence, isDone }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function linesOf(
  attack: Attack,
  place: CanaryPaths,
  brought: readonly { key: string; name: string }[],
): string[][] {
  const names = new Map([
    ...Object.entries(outputsOf(attack)),
    ...brought.map(({ key, name }) => [key, makeWorkspaceInputName(key, name)] as const),
  ])
  return [attack.words(place)].flat().map((line) => replaceFileKeysByNames(wordsOf(line), names))
}
