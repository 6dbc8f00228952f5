import type { TaskDefinition, ToolName } from "../contract/tasks/definition.ts"
import { findTaskDefinition } from "../kinds/registry.ts"
import { findMissingTools } from "../pipeline/jobs/missing-tools.ts"
import type { JobDraft } from "../storage/job-drafts.ts"
import { Problem } from "./problem.ts"
import type { AppContext } from "./request.ts"

/** What a service without a tool cannot do. */
const WITHOUT = {
  ffmpeg: "process media",
  ffprobe: "read media",
  "yt-dlp": "fetch from the web",
  whisper: "transcribe speech",
} as const satisfies Record<ToolName, string>

/** Refuses a job with 503 where no runner has a tool that its tasks need. */
export async function requireToolsOf(c: AppContext, { tasks }: JobDraft): Promise<void> {
  const kinds = tasks.flatMap(({ task }) => (task.work ? [task.work.kind] : []))
  await requireTools(
    c,
    kinds.flatMap((kind) => findTaskDefinition(kind) ?? []),
  )
}

/** Refuses what takes tasks of these kinds with 503 where no runner has a tool that they need. */
export async function requireTools(
  c: AppContext,
  definitions: readonly TaskDefinition[],
): Promise<void> {
  const missing = await findMissingTools(c.env)
  const needed = definitions.flatMap(({ tools }) => tools)
  const tool = missing.find(({ name }) => needed.includes(name))
  if (tool === undefined) return
  const message = `This service cannot ${WITHOUT[tool.name]}: ${tool.reason}; all else works.`
  throw new Problem("tool_missing", message)
}
