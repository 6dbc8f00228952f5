import { z } from "zod"
import { listMissingTools, TOOL_UNAVAILABLE } from "../../contract/runner-health.ts"
import type { RunnerHealth } from "../../contract/runner-health.ts"
import { isEnglishOnlyModel, parseSpeechModels } from "../../contract/speech-models.ts"
import { CONTAINERS_BY_CODEC, RENDITION_SIZES } from "../../contract/tasks/render.ts"
import { whisperCodeToLanguageTag, WHISPER_LANGUAGES } from "../../contract/whisper-languages.ts"
import { CONCURRENT_UPLOADS_MAX } from "../../accounts/rate-limit/upload-leases.ts"
import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { computeEffectiveLimits } from "../../bindings/plan-limits.ts"
import { SIGN_UP_POLICIES } from "../../bindings/settings.ts"
import { buildLimitRecord, toPublicLimits } from "../../domain/plan-fields.ts"
import { BUILT_IN_PLANS } from "../../domain/plans.ts"
import { readCachedRunnerHealth } from "../../jobs/missing-tools.ts"
import {
  loadCapabilitiesFromSetting,
  listAllowedNames,
} from "../../kinds/command/facts/capabilities.ts"
import { readClientNetwork } from "../../platform/client-network.ts"
import { sha256Hex } from "../../platform/crypto/sha256.ts"
import type { AppContext } from "../context.ts"
import { consumeNetworkAddressLimit, ADDRESS_BLOCK_SECONDS } from "../middleware/key-check.ts"
import { includesEntityTag } from "../output/entity-tag.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { Problem } from "../output/problem.ts"

/** Time in milliseconds for which an isolate caches the response of GET /capabilities. */
const ANSWER_CACHE_MS = 5000
const CACHE_CONTROL = "public, max-age=60"

/** Field of each tool in a runner's health report, by the tool's public name. */
const TOOLS = {
  ffmpeg: "ffmpeg",
  ffprobe: "ffprobe",
  "yt-dlp": "yt-dlp",
  "faster-whisper": "whisper",
} as const

const CONTAINERS_STOPPED =
  "The runners are containers, which report no versions while they are stopped."
const RUNNER_SILENT = "The runner does not answer at the moment; try again soon."
const NO_SANDBOX = "The runner has no sandbox on its system, and so starts no tool."
const NO_CAPABILITIES = "The set-up of the service did not note the capabilities of its ffmpeg."

const version = z.string().nullable()
const names = z.array(z.string())
const amount = z.int().min(0)

const capabilities = z
  .object({
    tools: z
      .object({ ffmpeg: version, ffprobe: version, "yt-dlp": version, "faster-whisper": version })
      .meta({ description: "Versions; null for a tool that is missing or unknown." }),
    ffmpeg: z
      .object({ encoders: names, decoders: names, filters: names, muxers: names, demuxers: names })
      .nullable()
      .meta({ description: "Names that commands may use." }),
    speech: z
      .object({
        default_model: z.string(),
        models: names,
        languages: names.meta({ description: "BCP-47 tags." }),
      })
      .nullable()
      .meta({
        description: "Models and languages of transcriptions; null if they are missing or unknown.",
      }),
    renditions: z.object({
      resolutions: names,
      containers: z.record(z.string(), names).meta({ description: "Containers of each codec." }),
    }),
    uploads: z.object({
      body_bytes: amount
        .nullable()
        .meta({ description: "Largest body of an upload, in bytes; null without a limit." }),
      open_uploads: amount.meta({ description: "Most concurrent uploads of a key." }),
      idle_seconds: amount.meta({ description: "Longest pause of a body, in seconds." }),
      bytes_per_second: amount.meta({
        description: "Least average rate of a body over that time.",
      }),
    }),
    plans: z
      .record(
        z.string(),
        z.object(buildLimitRecord(({ meaning }) => amount.meta({ description: meaning }))),
      )
      .meta({ description: "Limits of the built-in plans, by name." }),
    sign_up: z
      .enum(SIGN_UP_POLICIES)
      .meta({ description: "Sign-up policy: open to anybody, by invitation, or closed." }),
    unknown: z
      .record(z.string(), z.string())
      .meta({ description: "The reason for each field that is null, by the path of the field." }),
  })
  .meta({ id: "Capabilities" })

type Capabilities = z.infer<typeof capabilities>
type Answer = { at: number; body: Capabilities; etag: string }

/**
 * Cache of the response in this isolate. The cache holds no promises, because a request in workerd
 * cannot await another request's promise.
 */
const cache = new WeakMap<object, Answer>()

export const capabilityOperations: Operation[] = [
  defineOperation({
    method: "get",
    path: "/capabilities",
    operationId: "getCapabilities",
    summary: "Get the capabilities and limits of the service",
    tag: "health",
    isOpen: true,
    query: emptyQuerySchema,
    headers: ["If-None-Match"],
    answer: {
      status: 200,
      description: "The capabilities of the service.",
      schema: capabilities,
      headers: { ETag: "Tag of the answer.", "Cache-Control": "Lifetime of the answer in caches." },
    },
    errors: ["rate_limit_exceeded"],
    async handle(c) {
      await requireOpenAllowance(c)
      const { body, etag } = await readAnswer(c.env)
      const headers = { etag, "cache-control": CACHE_CONTROL, "access-control-allow-origin": "*" }
      const match = c.req.header("if-none-match") ?? ""
      if (includesEntityTag(match, etag, "weak")) return c.body(null, 304, headers)
      return { body, headers }
    },
  }),
]

/** Throws 429 if a network address sent too many requests without an API key. */
async function requireOpenAllowance({ env, req }: AppContext): Promise<void> {
  const network = readClientNetwork(req.raw.headers)
  if (network === null) return
  if (await consumeNetworkAddressLimit(env, `open ${network}`)) return
  throw new Problem(
    "rate_limit_exceeded",
    `Your address sent too many requests; try again in ${ADDRESS_BLOCK_SECONDS} seconds, and keep the answer for the lifetime of its Cache-Control.`,
    {
      retryAfterSeconds: ADDRESS_BLOCK_SECONDS,
      headers: { "retry-after": `${ADDRESS_BLOCK_SECONDS}` },
    },
  )
}

async function readAnswer(env: Env): Promise<Answer> {
  const last = cache.get(env)
  if (last && Math.abs(Date.now() - last.at) < ANSWER_CACHE_MS) return last
  const body = await collectCapabilities(env)
  const hash = await sha256Hex(JSON.stringify(body))
  const answer = { at: Date.now(), body, etag: `"${hash.slice(0, 32)}"` }
  cache.set(env, answer)
  return answer
}

async function collectCapabilities(env: Env): Promise<Capabilities> {
  const settings = getSettings(env)
  const [health, ffmpeg] = await Promise.all([
    readCachedRunnerHealth(env),
    loadCapabilitiesFromSetting(settings.FFMPEG_FACTS),
  ])
  const unknown: Record<string, string> = {}
  if (!ffmpeg) unknown["ffmpeg"] = NO_CAPABILITIES
  const tools = viewTools(health, ffmpeg?.version ?? null, unknown)
  return {
    tools,
    ffmpeg: ffmpeg && {
      encoders: listAllowedNames(ffmpeg, "encoders"),
      decoders: listAllowedNames(ffmpeg, "decoders"),
      filters: listAllowedNames(ffmpeg, "filters"),
      muxers: listAllowedNames(ffmpeg, "muxers"),
      demuxers: listAllowedNames(ffmpeg, "demuxers"),
    },
    speech: viewSpeech(env, health, unknown),
    renditions: {
      resolutions: [...RENDITION_SIZES],
      containers: Object.fromEntries(
        Object.entries(CONTAINERS_BY_CODEC).map(([codec, containers]) => [codec, [...containers]]),
      ),
    },
    uploads: {
      body_bytes: settings.UPLOAD_BODY_BYTES_MAX ?? null,
      open_uploads: CONCURRENT_UPLOADS_MAX,
      idle_seconds: settings.UPLOAD_IDLE_SECONDS,
      bytes_per_second: settings.UPLOAD_BYTES_PER_SECOND_MIN,
    },
    plans: Object.fromEntries(
      BUILT_IN_PLANS.map((plan) => [
        plan,
        toPublicLimits(computeEffectiveLimits({ plan, ownLimits: null }, settings)),
      ]),
    ),
    sign_up: settings.SIGN_UP,
    unknown,
  }
}

/** Returns the versions of tools; adds the reason for each null version to `unknown`. */
function viewTools(
  health: RunnerHealth | "containers" | "silent",
  ofBuild: string | null,
  unknown: Record<string, string>,
): Capabilities["tools"] {
  function versionOf(name: keyof typeof TOOLS): string | null {
    const key = TOOLS[name]
    if (typeof health === "object") {
      const { [key]: reported } = health
      if (reported !== undefined && reported !== TOOL_UNAVAILABLE) return reported
    }
    // Containers are not asked for their versions: all have the ffmpeg build whose capabilities are
    // stored, and the ffprobe of the same build.
    const isOfBuild = name === "ffmpeg" || name === "ffprobe"
    if (health === "containers" && isOfBuild && ofBuild !== null) return ofBuild
    unknown[`tools.${name}`] = explainMissingTool(health, key)
    return null
  }
  return {
    ffmpeg: versionOf("ffmpeg"),
    ffprobe: versionOf("ffprobe"),
    "yt-dlp": versionOf("yt-dlp"),
    "faster-whisper": versionOf("faster-whisper"),
  }
}

function explainMissingTool(
  health: RunnerHealth | "containers" | "silent",
  tool: (typeof TOOLS)[keyof typeof TOOLS],
): string {
  if (health === "containers") return CONTAINERS_STOPPED
  if (health === "silent") return RUNNER_SILENT
  if (!health.sandbox.ok) return NO_SANDBOX
  const missing = listMissingTools(health).find(({ name }) => name === tool)
  return `The runner lacks the tool: ${missing?.reason ?? "it does not run"}.`
}

/** Returns the speech models that requests may name, with the languages of each model. */
function viewSpeech(
  env: Env,
  health: RunnerHealth | "containers" | "silent",
  unknown: Record<string, string>,
): Capabilities["speech"] {
  const { default: first, names: all } = parseSpeechModels(getSettings(env))
  const installed = typeof health === "object" ? health.speech : null
  if (health !== "containers" && !installed) {
    unknown["speech"] = explainMissingTool(health, "whisper")
    return null
  }
  const models = all.filter((name) => installed?.models.includes(name) ?? true)
  const languages = models.every(isEnglishOnlyModel)
    ? ["en"]
    : WHISPER_LANGUAGES.map(whisperCodeToLanguageTag)
  return { default_model: first, models, languages }
}
