import { z } from "zod"
import { TOOL_NAMES } from "./tasks/definition.ts"
import type { ToolName } from "./tasks/definition.ts"

/** Codes of the reasons for which a service reports itself as degraded although it responds. */
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

/**
 * Installation state of the yt-dlp version that the operator requested. `version` is null if the
 * setting is invalid.
 */
export const ytdlpHealthSchema = z.object({
  version: z.string().nullable(),
  state: z.enum(["installing", "installed", "failed"]),
  problem: z.string().nullable(),
})

const attacks = z.array(z.object({ name: z.string(), refused: z.boolean() }))

export type YtdlpHealth = z.infer<typeof ytdlpHealthSchema>

/** Text that a runner's health contains in place of the version of a tool that cannot be used. */
export const TOOL_UNAVAILABLE = "unavailable"

/**
 * Response of a runner's `GET /health`: versions of tools, installed speech models and state of the
 * sandbox.
 */
export const runnerHealthSchema = z.object({
  /** Versions of the runner's tools. */
  ffmpeg: z.string().optional(),
  ffprobe: z.string().optional(),
  "yt-dlp": z.string().optional(),
  whisper: z.string().optional(),
  /**
   * Speech recognition of the runner: the engine with its version, the installed models and the
   * language codes.
   */
  speech: z
    .object({
      engine: z.string(),
      models: z.array(z.string()),
      languages: z.array(z.string()),
    })
    .nullish(),
  /** Reason why the runner cannot transcribe speech, worded as the end of a sentence. */
  speech_problem: z.string().nullish(),
  /** Kernel features that the sandbox needs, as the launcher detected them. */
  kernel: z
    .object({
      /** Output of `uname -r`. */
      release: z.string(),
      /** Landlock version; 0 without Landlock. */
      landlock_abi: z.int(),
      seccomp: z.boolean(),
      /** Whether bubblewrap is installed, and whether it can create namespaces. */
      bubblewrap: z.boolean(),
      namespaces: z.boolean().optional(),
    })
    .nullish(),
  sandbox: z.object({
    /**
     * Tier by which the sandbox isolates tools. The values are in order of strength, the strongest
     * first.
     */
    tier: z.enum(["namespaces", "mounts", "landlock", "none"]).optional(),
    ok: z.boolean(),
    /**
     * Outcomes of the attacks that the self-test of the sandbox tried, without and with a network.
     */
    attacks: attacks.optional(),
    network_attacks: attacks.optional(),
    /** Whether this system can sandbox tools at all, so that another self-test can pass. */
    supported: z.boolean(),
    problem: z.string().nullable(),
    /**
     * Sentence about the protection that a stronger tier would add, and the reason why the stronger
     * tier is not used.
     */
    loss: z.string().nullable(),
    /**
     * Reason why no tool gets a network, so that the runner cannot fetch media from web pages; null
     * if tools can get a network.
     */
    network_problem: z.string().nullable(),
  }),
  /**
   * Installation of a newer yt-dlp; absent or null if the runner uses the built-in version of
   * yt-dlp.
   */
  ytdlp_update: ytdlpHealthSchema.nullish(),
})

export type RunnerHealth = z.infer<typeof runnerHealthSchema>

/** Tool that a runner cannot use. `reason` is worded as the end of a sentence. */
export type MissingTool = { name: ToolName; reason: string }

/**
 * Returns the tools that a runner cannot use. Returns an empty list for a runner without a sandbox,
 * because such a runner cannot test its tools.
 */
export function listMissingTools(health: RunnerHealth): MissingTool[] {
  const { sandbox } = health
  if (!sandbox.ok) return []
  return TOOL_NAMES.flatMap((name) => {
    if (health[name] === TOOL_UNAVAILABLE) {
      const problem = name === "whisper" ? health.speech_problem : null
      return [{ name, reason: problem ?? `${name} is not installed or does not run` }]
    }
    if (name !== "yt-dlp" || sandbox.network_problem === null) return []
    return [{ name, reason: `the sandbox of this system cannot give ${name} a network` }]
  })
}
