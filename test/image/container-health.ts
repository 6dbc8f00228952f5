import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { runDocker } from "../../scripts/image/docker.ts"

const TRIES_MAX = 20
const RETRY_MS = 200

const attacks = z.array(z.object({ name: z.string(), refused: z.boolean() }))

const health = z.object({
  status: z.string(),
  ffmpeg: z.string(),
  sandbox: z.object({
    tier: z.string(),
    ok: z.boolean(),
    problem: z.string().nullable(),
    loss: z.string().nullable(),
    attacks,
    network_attacks: attacks,
    network_problem: z.string().nullable(),
  }),
})

/** Output of the image's health check, once the runner listens. */
export async function healthOf(id: string, word: "" | "all-attacks" = "") {
  const check = `node /app/container/health-check.ts ${word} 2>/dev/null; echo $?`
  for (let time = 0; time < TRIES_MAX; time += 1) {
    const [printed = "", exitCode] = (await runDocker("exec", id, "sh", "-c", check)).split("\n")
    if (exitCode !== undefined) {
      return { ...health.parse(JSON.parse(printed)), isHealthy: exitCode === "0" }
    }
    await sleep(RETRY_MS)
  }
  throw new Error("the runner did not listen in time")
}

/** Names of the attacks that were refused. */
export function refusedOf(tried: z.infer<typeof attacks>): string[] {
  return tried.filter(({ refused }) => refused).map(({ name }) => name)
}
