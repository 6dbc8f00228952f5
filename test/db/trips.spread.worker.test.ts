import { expect, it } from "vitest"
import { ask, upload } from "../support/caller.ts"
import { commandRequest } from "../support/media/command-request.ts"
import { countTrips } from "../support/db/counted-trips.ts"
import { makeCallerIn } from "../support/db/spread.ts"
import { startTinyRunner } from "../support/runner/tiny-runner.ts"

it("a published file is read only in the database that its address names", async () => {
  const { caller } = await makeCallerIn(3)
  const file = await upload(caller, "clip.txt", "x")
  const published = await caller.call(`/files/${file.id}/publish`, { method: "POST" })
  const { public_url } = await published.json<{ public_url: string }>()
  const trips = await countTrips(async () => {
    expect(await (await ask(public_url)).text()).toBe("x")
  })
  expect(trips).toEqual(["select files"])
})

it("four databases need the same trips as one", async () => {
  startTinyRunner(() => new Promise(() => undefined))
  const { caller } = await makeCallerIn(3)
  const file = await upload(caller, "clip.mp4", "x")
  const body = JSON.stringify(commandRequest(file.id))
  const headers = { "content-type": "application/json" }
  let path = ""
  const accepting = await countTrips(async () => {
    const answer = await caller.call("/commands", { method: "POST", headers, body })
    path = `/commands/${(await answer.json<{ command_id: string }>()).command_id}`
  })
  const ofCreate = accepting.filter((trip) =>
    /^(?:select files, select jobs$|insert jobs)/.test(trip),
  )
  expect(ofCreate).toHaveLength(2)
  const looking = await countTrips(async () => {
    for (let times = 0; times < 5; times += 1) await (await caller.call(path)).text()
    const link = await caller.call(new URL(file.download_url).pathname.replace("/v1", ""))
    await (await ask(link.headers.get("location") ?? "")).text()
  })
  expect(looking.filter((trip) => trip === "select jobs")).toHaveLength(5)
  expect(looking.filter((trip) => trip === "select files").length).toBeLessThanOrEqual(2)
})
