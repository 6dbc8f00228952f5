import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { makeChildEnvironment } from "../../scripts/cli/environment.ts"
import { findMediaTools } from "../../scripts/cli/media-tools.ts"
import { wrapToDieWithParent } from "../../scripts/cli/parent-death.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../scripts/setup/speech.ts"
import { FETCH_PYTHON_PATH } from "../../scripts/setup/yt-dlp.ts"

const INSIDE = join(import.meta.dirname, "inside-program.ts")
const RUNNER = resolve("container/main.ts")

/** Where the process of an instance is, and what it sees of the world. */
export type Surroundings = {
  /** The port of the instance. */
  port: number
  /** The port that its requests to `worker.internal` go to. */
  wayOut: number
  workDir: string
  /** Addresses of names, as JSON. */
  names: string
}

/** Starts the program of the image with this environment of its start. */
export function startProcess(around: Surroundings, given: Record<string, string>): ChildProcess {
  const [program, ...words] = wrapToDieWithParent([process.execPath, "--import", INSIDE, RUNNER])
  return spawn(program, words, {
    env: { ...imageEnvironment(around), ...given, WORK_DIR: around.workDir },
    stdio: ["ignore", process.env["RIG_LOG"] ? "inherit" : "ignore", "inherit"],
    detached: true,
  })
}

/** The problem that the platform tells of an ended process; none where it ended in order. */
export async function problemOfEnd(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  if (child.exitCode === 0) return ""
  const code = child.exitCode ?? 128 + (child.signalCode === "SIGKILL" ? 9 : 15)
  return `container exited with unexpected exit code: ${code}`
}

/** Environment of the Dockerfile, with the paths of this machine's tools. */
function imageEnvironment({ port, wayOut, names }: Surroundings): Record<string, string> {
  const { ffmpeg, ffprobe, fetchFfmpeg } = findMediaTools()
  return {
    ...makeChildEnvironment(),
    NODE_ENV: "production",
    RUNNER_HOST: "0.0.0.0",
    RUNNER_PORT: "8788",
    RUNNER_CAPACITY: "1",
    MALLOC_ARENA_MAX: "2",
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
    FETCH_FFMPEG_PATH: fetchFfmpeg,
    FETCH_PYTHON_PATH,
    SPEECH_PYTHON_PATH,
    SPEECH_MODELS_PATH,
    RIG_PORT: String(port),
    RIG_WAY_OUT: String(wayOut),
    RIG_NAMES: names,
  }
}
