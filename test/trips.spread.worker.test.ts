import { expect, it } from "vitest"
import { ask, upload } from "./support/caller.ts"
import { commandRequest } from "./support/command-request.ts"
import { countTrips } from "./support/counted-trips.ts"
import { makeCallerIn } from "./support/spread.ts"
import { startTinyRunner } from "./support/tiny-runner.ts"

const MOVES = "select account_moves"
it("trips to four databases are those to one, but for a look at what has moved once in some time", async () => {
  startTinyRunner(() => new Promise(() => undefined))
  const { caller } = await makeCallerIn(3)
  const file = await upload(caller, "clip.mp4", "x")
  const body = JSON.stringify(commandRequest(file.id))
  const headers = { "content-type": "application/json" }
  // What is known of moves counts for a quarter of a second in these tests, and ten seconds else.
  const waiting = await countTrips(async () => await scheduler.wait(300))
  let path = ""
  const accepting = await countTrips(async () => {
    const answer = await caller.call("/commands", { method: "POST", headers, body })
    path = `/commands/${(await answer.json<{ command_id: string }>()).command_id}`
  })
  const ofCreate = accepting.filter((trip) => /^(?:select files$|insert jobs)/.test(trip))
  expect(ofCreate).toHaveLength(2)
  const looking = await countTrips(async () => {
    for (let times = 0; times < 5; times += 1) await (await caller.call(path)).text()
    const link = await caller.call(new URL(file.download_url).pathname.replace("/v1", ""))
    await (await ask(link.headers.get("location") ?? "")).text()
  })
  expect(looking.filter((trip) => trip === "select jobs")).toHaveLength(5)
  expect(looking.filter((trip) => trip === "select files").length).toBeLessThanOrEqual(2)
  // Upkeep may have looked just before the create does.
  expect([...waiting, ...accepting, ...looking]).toContain(MOVES)
})
