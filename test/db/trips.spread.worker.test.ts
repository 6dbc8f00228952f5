import { expect, it } from "vitest"
import { fetchWorker, uploadTestFile } from "../support/caller.ts"
import { makeCommandBody } from "../support/media/command-request.ts"
import { recordD1RoundTrips } from "../support/db/counted-trips.ts"
import { makeCallerInDatabase } from "../support/db/spread.ts"
import { startFakePlainRunner } from "../support/runner/tiny-runner.ts"

it("a published file is read only in the database that its address names", async () => {
  const { caller } = await makeCallerInDatabase(3)
  const file = await uploadTestFile(caller, "clip.txt", "x")
  const published = await caller.call(`/files/${file.id}/publish`, { method: "POST" })
  const { public_url } = await published.json<{ public_url: string }>()
  const trips = await recordD1RoundTrips(async () => {
    expect(await (await fetchWorker(public_url)).text()).toBe("x")
  })
  expect(trips).toEqual(["select files"])
})

it("four databases need the same trips as one", async () => {
  startFakePlainRunner(() => new Promise(() => undefined))
  const { caller } = await makeCallerInDatabase(3)
  const file = await uploadTestFile(caller, "clip.mp4", "x")
  const body = JSON.stringify(makeCommandBody(file.id))
  const headers = { "content-type": "application/json" }
  let path = ""
  const accepting = await recordD1RoundTrips(async () => {
    const answer = await caller.call("/commands", { method: "POST", headers, body })
    path = `/commands/${(await answer.json<{ command_id: string }>()).command_id}`
  })
  const ofCreate = accepting.filter((trip) =>
    /^(?:select files, select jobs$|insert jobs)/.test(trip),
  )
  expect(ofCreate).toHaveLength(2)
  const looking = await recordD1RoundTrips(async () => {
    for (let times = 0; times < 5; times += 1) await (await caller.call(path)).text()
    const link = await caller.call(new URL(file.download_url).pathname.replace("/v1", ""))
    await (await fetchWorker(link.headers.get("location") ?? "")).text()
  })
  expect(looking.filter((trip) => trip === "select jobs")).toHaveLength(5)
  expect(looking.filter((trip) => trip === "select files").length).toBeLessThanOrEqual(2)
})
