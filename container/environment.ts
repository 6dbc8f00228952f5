import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { OUTPUT_PART_BYTES } from "../src/contract/protocol.ts"

const port = z.coerce.number().int().min(0).max(65_535)
const count = z.coerce.number().int().positive()

const environment = z.object({
  RUNNER_PORT: port.default(8788),
  RUNNER_HOST: z.string().min(1).default("127.0.0.1"),
  RUNNER_CAPACITY: count.default(availableParallelism()),
  WORK_DIR: z.string().min(1).default(join(tmpdir(), "lathe-work")),
  FFMPEG_PATH: z.string().min(1).default("ffmpeg"),
  FFPROBE_PATH: z.string().min(1).default("ffprobe"),
  HELLO_URL: z.url().optional(),
  HELLO_TOKEN: z.string().optional(),
})

export type Environment = z.infer<typeof environment>

/** What a runner needs to do tasks; `boot` names this process to the Worker. */
export type RunnerSettings = {
  boot: string
  capacity: number
  workDir: string
  ffmpegPath: string
  ffprobePath: string
  outputPartBytes: number
}

/** The settings of a process's environment; throws a ZodError that names what is wrong. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  return environment.parse(env)
}

/** Settings of a runner whose life begins now. */
export function makeSettings(values: Environment): RunnerSettings {
  return {
    boot: crypto.randomUUID(),
    capacity: values.RUNNER_CAPACITY,
    workDir: values.WORK_DIR,
    ffmpegPath: values.FFMPEG_PATH,
    ffprobePath: values.FFPROBE_PATH,
    outputPartBytes: OUTPUT_PART_BYTES,
  }
}
