import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { z } from "zod"
import { waitFor } from "../../harness.ts"

const main = join(import.meta.dirname, "../../../../container/main.ts")
const listening = z.looseObject({ event: z.literal("runner.listening"), port: z.int() })

/** Starts a runner as a process of its own, which may import from loopback. */
export async function startRunnerProcess(workDir: string) {
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      RUNNER_PORT: "0",
      WORK_DIR: workDir,
      ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      MALLOC_ARENA_MAX: "2",
    },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ports: number[] = []
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { data } = listening.safeParse(JSON.parse(line))
    if (data) ports.push(data.port)
  })
  const port = await waitFor(() => ports[0])
  return {
    origin: `http://127.0.0.1:${port}`,
    kill: () => child.kill("SIGKILL"),
    /** Returns its resident memory in bytes. */
    async residentBytes(): Promise<number> {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8")
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    },
  }
}

/** Serves streamed responses on a port of its own. */
export async function serveStreams(
  handler: (incoming: IncomingMessage, answer: ServerResponse) => void,
) {
  const server = createServer(handler)
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  return {
    origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
