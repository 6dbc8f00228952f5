import { beforeEach, describe, expect, it } from "vitest"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { recordD1RoundTrips } from "../support/db/counted-trips.ts"
import type { D1RoundTrip } from "../support/db/counted-trips.ts"
import { PROBE_RESULT } from "../support/runner/stand-in-runner.ts"
import { startFakePlainRunner } from "../support/runner/tiny-runner.ts"

const JOBS = 10
const TRIPS_MAX = 4

/** Reads of keys and plans, which happen by time, and trips of the dispatcher in the background. */
const OTHERS = /^(?:select (?:keys|accounts|tasks)|insert usage_days, update keys|update tasks)\b/

let caller: TestCaller

beforeEach(async () => {
  caller = await makeCaller(`batch trips ${crypto.randomUUID()}`)
  startFakePlainRunner(async ({ work: { kind } }) => {
    return kind === "probe" ? { result: PROBE_RESULT } : await new Promise(() => undefined)
  })
})

/** Uploads a file and waits for its probe. Returns the reference to its File. */
async function uploadProbed(): Promise<string> {
  const body = new FormData()
  body.append("file", new File(["x"], "clip.mp4"))
  const headers = { prefer: "wait=20" }
  const answer = await caller.call("/files", { method: "POST", headers, body })
  const { id, status } = await answer.json<{ id: string; status: string }>()
  expect(status).toBe("success")
  return `svc_id://${id}`
}

/** Returns creates of ten jobs, each of which reads the output of the job before. */
function makeChain(): Record<string, unknown> {
  return makeJobs((at) => (at === 0 ? [] : [`svc_id://job${at - 1}/out`]))
}

/** Returns creates of ten jobs, each of which reads one of the inputs. */
function makeReaders(inputs: readonly string[]): Record<string, unknown> {
  return makeJobs((at) => inputs.slice(at % inputs.length).slice(0, 1))
}

function makeJobs(listInputs: (at: number) => string[]): Record<string, unknown> {
  const jobs = Array.from({ length: JOBS }, (_, at) => {
    return [`job${at}`, { commands: command(listInputs(at)) }] as const
  })
  return Object.fromEntries(jobs)
}

function command(inputs: readonly string[]): object {
  const keys = inputs.map((_, at) => `in_${at}`)
  const words = keys.length > 0 ? keys.map((key) => `-i {{${key}}}`) : ["-f lavfi -i sine -t 1"]
  return {
    ffmpeg_command: `ffmpeg ${words.join(" ")} -c:a aac {{out}}`,
    input_files: Object.fromEntries(keys.map((key, at) => [key, inputs[at]])),
    output_files: { out: "sound.m4a" },
  }
}

/** Returns the trips of a create until its response. */
async function tripsToAccept(
  jobs: Record<string, unknown>,
  more: Record<string, string>,
): Promise<D1RoundTrip[]> {
  const headers = { "content-type": "application/json", ...more }
  const trips = await recordD1RoundTrips(async () => {
    const body = JSON.stringify({ jobs })
    const answer = await caller.call("/batches", { method: "POST", headers, body })
    expect(answer.status).toBe(202)
  })
  return trips.filter((trip) => !OTHERS.test(trip))
}

describe("trips to D1 until a batch of ten jobs is accepted", () => {
  it("number at most four for jobs that read outputs of each other", async () => {
    for (const headers of [{}, { "idempotency-key": "chain" }]) {
      const trips = await tripsToAccept(makeChain(), headers)
      expect(trips.length).toBeLessThanOrEqual(TRIPS_MAX)
      expect(trips.filter((trip) => trip.includes("insert jobs"))).toHaveLength(1)
    }
  })

  it("number at most four for jobs that read Files", async () => {
    const inputs = await Promise.all([uploadProbed(), uploadProbed()])
    for (const headers of [{}, { "idempotency-key": "files" }]) {
      const trips = await tripsToAccept(makeReaders(inputs), headers)
      expect(trips.length).toBeLessThanOrEqual(TRIPS_MAX)
      expect(trips.filter((trip) => trip.includes("insert jobs"))).toHaveLength(1)
    }
  })

  it("number at most four for jobs that read outputs of other open jobs", async () => {
    const answer = await caller.call("/commands", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(command([])),
    })
    const { command_id: id } = await answer.json<{ command_id: string }>()
    for (const headers of [{}, { "idempotency-key": "jobs" }]) {
      const trips = await tripsToAccept(makeReaders([`svc_id://${id}/out`]), headers)
      expect(trips.length).toBeLessThanOrEqual(TRIPS_MAX)
    }
  })

  it("number at most three for the repetition of an Idempotency-Key", async () => {
    const inputs = [await uploadProbed()]
    const headers = { "idempotency-key": "again" }
    await tripsToAccept(makeReaders(inputs), headers)
    const trips = await tripsToAccept(makeReaders(inputs), headers)
    expect(trips.length).toBeLessThanOrEqual(TRIPS_MAX - 1)
  })
})
