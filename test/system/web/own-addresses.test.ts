import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const REFUSED = expect.stringContaining("resolves to a private address")
const PROGRAM = "test/system/web/own-addresses-program.ts"
const run = promisify(execFile)

/** Runs a shell script in a network of its own, which only root may make here. */
async function runInNetwork(script: string): Promise<string> {
  return (await run("unshare", ["--net", "--", "sh", "-c", script])).stdout
}

const setUp =
  "ip link set lo up && ip address add 93.184.216.34/32 dev lo && " +
  "ip link add unlinked0 type bridge"
const canMakeNetwork =
  process.getuid?.() === 0 &&
  (await runInNetwork(setUp).then(
    () => true,
    () => false,
  ))

test.runIf(canMakeNetwork)(
  "webhooks reach no address of this machine, even a public one, unless it is allowed",
  async () => {
    const stdout = await runInNetwork(`${setUp} && exec ${process.execPath} ${PROGRAM}`)
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
      said: { own: REFUSED, later: REFUSED, unlinked: REFUSED, allowed: 200 },
      heard: ["/allowed", "/direct"],
    })
  },
)
