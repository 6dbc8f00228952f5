import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { app } from "../../../../src/app.ts"
import { TOOL_UNAVAILABLE } from "../../../../src/contract/runner-health.ts"
import { readProblem } from "../../../support/problem.ts"

const SANDBOX = { ok: true, supported: true, problem: null, loss: null, network_problem: null }
const SPEECH = { engine: "faster-whisper 1.2.1", models: ["base"], languages: ["en", "de"] }
const TOOLS = { ffmpeg: "7.1.5", ffprobe: "7.1.5", "yt-dlp": "2026.11.1", whisper: "1.2.1" }

const limits = z.record(z.string(), z.number())
const record = z.looseObject({
  tools: z.record(z.string(), z.string().nullable()),
  ffmpeg: z.record(z.string(), z.array(z.string())).nullable(),
  speech: z
    .object({
      default_model: z.string(),
      models: z.array(z.string()),
      languages: z.array(z.string()),
    })
    .nullable(),
  plans: z.object({ trial: limits, paid: limits }),
  unknown: z.record(z.string(), z.string()),
})

/** Asks a service with other bindings. */
async function ask(
  bindings: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const request = new Request("https://lathe.test/v1/capabilities", { headers })
  return await app.fetch(request, { ...env, ...bindings }, createExecutionContext())
}

/** Asks a service whose runner reports this health. */
async function readWith(facts: object) {
  const health = { status: "ok", sandbox: SANDBOX, ...TOOLS, speech: SPEECH, ...facts }
  const answer = await ask({ RUNNER: { fetch: async () => Response.json(health) } })
  return record.parse(await answer.json())
}

describe("GET /v1/capabilities", () => {
  it("has the versions and models that the runner reports", async () => {
    const { tools, speech, unknown } = await readWith({})
    expect(tools).toEqual({
      ffmpeg: "7.1.5",
      ffprobe: "7.1.5",
      "yt-dlp": "2026.11.1",
      "faster-whisper": "1.2.1",
    })
    expect(speech).toMatchObject({ default_model: "base", models: ["base"] })
    expect(speech?.languages).toEqual(expect.arrayContaining(["en", "de", "jv", "zh"]))
    expect(unknown).toEqual({})
  })

  it("has a sentence for each tool that the runner lacks", async () => {
    const { tools, speech, unknown } = await readWith({
      "yt-dlp": TOOL_UNAVAILABLE,
      whisper: TOOL_UNAVAILABLE,
      speech: null,
      speech_problem: 'the speech model "base" is missing',
    })
    expect(tools).toMatchObject({ ffmpeg: "7.1.5", "yt-dlp": null, "faster-whisper": null })
    expect(speech).toBe(null)
    const noSpeech = 'The runner lacks the tool: the speech model "base" is missing.'
    expect(unknown).toEqual({
      "tools.yt-dlp": "The runner lacks the tool: yt-dlp is not installed or does not run.",
      "tools.faster-whisper": noSpeech,
      speech: noSpeech,
    })
  })

  it("has a sentence for each version while no runner answers, or runners are containers", async () => {
    const silent = record.parse(await (await ask()).json())
    expect(Object.values(silent.tools)).toEqual([null, null, null, null])
    expect(silent.speech).toBe(null)
    expect(silent.unknown["tools.ffmpeg"]).toContain("does not answer")

    const contained = record.parse(await (await ask({ RUNNER_ORIGIN: undefined })).json())
    expect(contained.tools).toMatchObject({ "yt-dlp": null, "faster-whisper": null })
    expect(contained.tools["ffmpeg"]).toMatch(/^7\.1\./)
    expect(contained.speech).toMatchObject({ default_model: "base", models: ["base"] })
    expect(Object.keys(contained.unknown)).toEqual(["tools.yt-dlp", "tools.faster-whisper"])
  })

  it("has the names that commands may use, and none that a command is refused for", async () => {
    const { ffmpeg } = await readWith({})
    expect(ffmpeg?.["encoders"]).toEqual(expect.arrayContaining(["libx264", "libopus", "aac"]))
    expect(ffmpeg?.["encoders"]).not.toContain("h264_nvenc")
    expect(ffmpeg?.["decoders"]).toContain("libdav1d")
    expect(ffmpeg?.["filters"]).toEqual(expect.arrayContaining(["scale", "loudnorm"]))
    expect(ffmpeg?.["filters"]).not.toContain("zmq")
    expect(ffmpeg?.["muxers"]).toEqual(expect.arrayContaining(["mp4", "hls"]))
    expect(ffmpeg?.["muxers"]).not.toContain("rtsp")
    expect(ffmpeg?.["demuxers"]).toContain("mov")
    expect(ffmpeg?.["demuxers"]).not.toContain("rtsp")
    const blind = record.parse(await (await ask({ FFMPEG_FACTS: "none" })).json())
    expect(blind.ffmpeg).toBe(null)
    expect(blind.unknown["ffmpeg"]).toContain("did not note")
  })

  it("has the limits of plans after the settings, and those of uploads and sign-up", async () => {
    const settings = { TRIAL_RUNNING_JOBS_MAX: "3", RUN_SECONDS_MAX: "900", SIGN_UP: "invitation" }
    const answer = await ask({ ...settings, UPLOAD_BODY_BYTES_MAX: "100000000" })
    const body = record.parse(await answer.json())
    expect(body.plans.trial).toMatchObject({ running_jobs: 3, run_seconds: 300 })
    expect(body.plans.paid).toMatchObject({ running_jobs: 32, run_seconds: 900 })
    expect(body).toMatchObject({
      sign_up: "invitation",
      uploads: { body_bytes: 100_000_000, open_uploads: 16, idle_seconds: 30 },
      renditions: {
        resolutions: expect.arrayContaining(["480p", "720p", "1080p", "4k"]),
        containers: { h264: ["mp4", "mov"], av1: ["mp4", "webm"] },
      },
    })
  })

  it("may be kept, and answers 304 to its ETag", async () => {
    const answer = await ask()
    const etag = answer.headers.get("etag") ?? ""
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    for (const list of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask({}, { "if-none-match": list })
      expect([list, again.status, again.headers.get("etag")]).toEqual([list, 304, etag])
      expect(await again.text()).toBe("")
    }
    const changed = await ask({ SIGN_UP: "open" }, { "if-none-match": etag })
    expect(changed.status).toBe(200)
    expect(changed.headers.get("etag")).not.toBe(etag)
  })

  it("is limited by address", async () => {
    async function askFrom(address: string): Promise<Response> {
      return await ask({}, { "cf-connecting-ip": address })
    }
    const limited = await findLimited(() => askFrom("198.51.100.7"))
    expect(limited.headers.get("retry-after")).toBe("60")
    expect((await readProblem(limited)).code_name).toBe("rate_limit_exceeded")
    expect((await askFrom("198.51.100.8")).status).toBe(200)
  })
})

/** Returns the first 429 of at most 201 answers: a new minute may begin meanwhile. */
async function findLimited(send: () => Promise<Response>): Promise<Response> {
  for (let sent = 0; sent <= 200; sent += 1) {
    const answer = await send()
    if (answer.status === 429) return answer
    expect(answer.status).toBe(200)
    await answer.body?.cancel()
  }
  throw new Error("nothing was limited")
}
