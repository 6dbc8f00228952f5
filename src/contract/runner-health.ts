import { z } from "zod"
import { TOOL_NAMES } from "./tasks/definition.ts"
import type { ToolName } from "./tasks/definition.ts"

/** Why a service that answers does not do its work as it should; codes for the operator. */
export const DEGRADED_REASONS = [
  "container_not_started",
  "database_filling",
  "disk_full",
  "runner_unreachable",
  "sandbox_failed",
  "slot_not_ended",
  "ytdlp_update_failed",
] as const

export type DegradedReason = (typeof DEGRADED_REASONS)[number]

/** How it stands with the version of yt-dlp that an operator asked for; null where it has no name. */
export const ytdlpHealth = z.object({
  version: z.string().nullable(),
  state: z.enum(["installing", "installed", "failed"]),
  problem: z.string().nullable(),
})

const attacks = z.array(z.object({ name: z.string(), refused: z.boolean() }))

export type YtdlpHealth = z.infer<typeof ytdlpHealth>

/** What a runner's health says of a tool that it does not have, where others have a version. */
export const UNAVAILABLE = "unavailable"

/** What `GET /health` of a runner says that others judge it by. */
export const runnerHealth = z.object({
  /** Versions of its tools. */
  ffmpeg: z.string().optional(),
  ffprobe: z.string().optional(),
  "yt-dlp": z.string().optional(),
  whisper: z.string().optional(),
  /** What transcribes: the engine with its version, models that are there, codes of languages. */
  speech: z
    .object({
      engine: z.string(),
      models: z.array(z.string()),
      languages: z.array(z.string()),
    })
    .nullish(),
  /** What is missing where speech cannot be transcribed, as the end of a sentence. */
  speech_problem: z.string().nullish(),
  /** What its kernel offers to a sandbox, as the launcher found it. */
  kernel: z
    .object({
      /** As `uname -r` says it. */
      release: z.string(),
      /** 0 without Landlock. */
      landlock_abi: z.int(),
      seccomp: z.boolean(),
      /** Whether there is a program that makes namespaces, and whether it can. */
      bubblewrap: z.boolean(),
      namespaces: z.boolean().optional(),
    })
    .nullish(),
  sandbox: z.object({
    /** How strongly tools are isolated. */
    tier: z.enum(["namespaces", "mounts", "landlock", "none"]).optional(),
    ok: z.boolean(),
    /** What its self-test tried, and what it tried by a tool with a network. */
    attacks: attacks.optional(),
    network_attacks: attacks.optional(),
    /** Whether this system can sandbox tools at all, so that another self-test may pass. */
    supported: z.boolean(),
    problem: z.string().nullable(),
    /** What it lacks that a stronger sandbox would give, and why that one is not used. */
    loss: z.string().nullable(),
    /** Why no tool can be given a network, so that nothing is fetched from pages. */
    network_problem: z.string().nullable(),
  }),
  /** Absent and null where the built-in version of yt-dlp is to be used. */
  ytdlp_update: ytdlpHealth.nullish(),
})

export type RunnerHealth = z.infer<typeof runnerHealth>

/** A tool that cannot be used, and why, as the end of a sentence. */
export type MissingTool = { name: ToolName; reason: string }

/** The tools that a runner lacks; none where it can say nothing of them, as without a sandbox. */
export function missingTools(health: RunnerHealth): MissingTool[] {
  const { sandbox } = health
  if (!sandbox.ok) return []
  return TOOL_NAMES.flatMap((name) => {
    if (health[name] === UNAVAILABLE) {
      const known = name === "whisper" ? health.speech_problem : null
      return [{ name, reason: known ?? `${name} is not installed, or does not run` }]
    }
    if (name !== "yt-dlp" || sandbox.network_problem === null) return []
    return [{ name, reason: `${name} can be given no network in the sandbox of this system` }]
  })
}
