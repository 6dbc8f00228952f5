import { beforeEach, describe, expect, it } from "vitest"
import type { TaskOrder } from "../src/contract/task.ts"
import { ask, makeCaller } from "./support/caller.ts"
import type { Caller } from "./support/caller.ts"
import { commandRequest } from "./support/command-request.ts"
import { countTrips } from "./support/counted-trips.ts"
import type { Trip } from "./support/counted-trips.ts"
import { probed } from "./support/stand-in-runner.ts"
import { startTinyRunner } from "./support/tiny-runner.ts"
import type { Done } from "./support/tiny-runner.ts"

/** What is noted of jobs is dealt with by then. */
const SETTLE_MS = 600

/** Keys and plans are read, and requests counted, once in some time, whatever is asked meanwhile. */
const BY_TIME = /^(?:select (?:keys|accounts)|insert usage_days, update keys)$/

/** A job that takes long, as on a busy machine, is noted as begun, and an alarm looks at it. */
const MORE_MAX = 2

/** A dispatcher looks at what it has queued every few seconds. */
const ALARM = "select tasks"

let caller: Caller

beforeEach(async () => {
  caller = await makeCaller(`trips ${crypto.randomUUID()}`)
  startTinyRunner(work)
})

async function work({ work: { kind } }: TaskOrder): Promise<Done> {
  if (kind === "probe") return { result: probed }
  const outputs = [{ key: "out_1", size_bytes: 1, content_type: "video/mp4" }]
  return { outputs: { out_1: "x" }, result: { kind, outputs } }
}

/** The trips of some work and of what it leaves to be done later. */
async function tripsOf(work: () => Promise<void>): Promise<Trip[]> {
  const trips = await countTrips(async () => {
    await work()
    await scheduler.wait(SETTLE_MS)
  })
  return trips.filter((trip) => !BY_TIME.test(trip))
}

async function uploadProbed(): Promise<string> {
  const body = new FormData()
  body.append("file", new File(["x"], "clip.mp4"))
  const headers = { prefer: "wait=20" }
  const answer = await caller.call("/files", { method: "POST", headers, body })
  const record = await answer.json<{ id: string; status: string; ffprobe: unknown }>()
  expect(record).toMatchObject({ status: "success", ffprobe: { width: 4 } })
  return record.id
}

async function command(fileId: string, headers: Record<string, string> = {}) {
  const answer = await caller.call("/commands", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(commandRequest(fileId)),
  })
  expect(answer.status).toBe(202)
  return await answer.json<{ command_id: string; status?: string }>()
}

describe("trips to D1", () => {
  it("are few for an upload and its probe", async () => {
    const trips = await tripsOf(async () => void (await uploadProbed()))
    expect(trips.slice(7 + MORE_MAX)).toEqual([])
  })

  it("are few for a command that is waited for", async () => {
    const fileId = await uploadProbed()
    const trips = await tripsOf(async () => {
      expect(await command(fileId, { prefer: "wait=20" })).toMatchObject({ status: "success" })
    })
    expect(trips.slice(8 + MORE_MAX)).toEqual([])
  })

  it("are two until a command is accepted, and one to look at it", async () => {
    const fileId = await uploadProbed()
    startTinyRunner(() => new Promise(() => undefined))
    let id = ""
    const accepting = await countTrips(async () => {
      id = (await command(fileId)).command_id
    })
    const ofCreate = accepting.filter((trip) => /^(?:select files$|insert jobs)/.test(trip))
    expect(ofCreate).toHaveLength(2)
    await scheduler.wait(SETTLE_MS)
    const looking = await tripsOf(async () => {
      const answer = await caller.call(`/commands/${id}`)
      expect(await answer.json()).toMatchObject({ status: "running" })
    })
    expect(looking.filter((trip) => trip !== ALARM)).toEqual(["select jobs"])
  })

  it("are one for the link of a download, and none for its bytes", async () => {
    const fileId = await uploadProbed()
    let place = ""
    const linking = await tripsOf(async () => {
      const link = await caller.call(`/files/${fileId}/clip.mp4`)
      place = link.headers.get("location") ?? ""
    })
    expect(linking.filter((trip) => trip !== ALARM)).toEqual(["select files"])
    const reading = await tripsOf(async () => {
      expect((await (await ask(place)).arrayBuffer()).byteLength).toBe(1)
    })
    expect(reading.filter((trip) => trip !== ALARM)).toEqual([])
  })
})
