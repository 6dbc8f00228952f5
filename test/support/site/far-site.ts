import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { once } from "node:events"
import { z } from "zod"

const event = z.union([
  z.object({ event: z.literal("ready") }),
  z.object({ event: z.literal("request"), path: z.string(), to: z.string() }),
  z.object({ event: z.literal("canary"), address: z.string() }),
])

/**
 * Web site in the simulated internet (the far network of networks.ts). Only programs that
 * `runInNearNetwork` started can start and reach the site.
 */
export type FarNetworkSite = AsyncDisposable & {
  /** Requests so far, as `HOST PATH`. */
  requests: string[]
  /**
   * Private addresses of the far network to which a connection was made. A correct client connects
   * to none.
   */
  reached: string[]
}

/**
 * Starts the web site in the far network, and a canary server at each private address, all at port
 * 80.
 */
export async function startFarNetworkSite(): Promise<FarNetworkSite> {
  const network = `--net=/proc/${process.env["FAR_PID"]}/ns/net`
  const program = ["--", process.execPath, "test/support/site/far-site-program.ts"]
  const child = spawn("nsenter", [network, ...program], { stdio: ["ignore", "pipe", "inherit"] })
  const requests: string[] = []
  const reached: string[] = []
  const ready = new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error("the far site ended")))
    createInterface(child.stdout).on("line", (line) => {
      const said = event.parse(JSON.parse(line))
      if (said.event === "ready") resolve()
      if (said.event === "request") requests.push(`${said.to} ${said.path}`)
      if (said.event === "canary") reached.push(said.address)
    })
  })
  await ready
  return {
    requests,
    reached,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    },
  }
}
