import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { expect, it } from "vitest"

const SCRIPT = `
  import { claimToolUserIds } from ${JSON.stringify(import.meta.resolve("../../../container/sandbox/tool-user-ids.ts"))}
  console.log(await claimToolUserIds(Number(process.argv[1])))
  setInterval(() => undefined, 1000)`

it("runners of one machine claim distinct user ids, and release them however they end", async () => {
  const firstUid = 1_000_000 + process.pid * 1000
  const one = await startClaiming(firstUid)
  const other = await startClaiming(firstUid)
  expect([one.firstUid, other.firstUid]).toEqual([firstUid, firstUid + 200])
  await one.kill()
  const next = await startClaiming(firstUid)
  expect(next.firstUid).toBe(firstUid)
  await Promise.all([other.kill(), next.kill()])
})

async function startClaiming(firstUid: number) {
  const words = ["--input-type=module", "--eval", SCRIPT, String(firstUid)]
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = await once(createInterface(child.stdout), "line")
  return {
    firstUid: Number(line),
    async kill() {
      child.kill("SIGKILL")
      await once(child, "exit")
    },
  }
}
