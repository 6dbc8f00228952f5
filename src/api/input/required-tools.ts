import type { TaskDefinition, ToolName } from "../../contract/tasks/definition.ts"
import { findTaskDefinition } from "../../kinds/registry.ts"
import { findMissingTools } from "../../jobs/missing-tools.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { Problem } from "../output/problem.ts"
import type { AppContext } from "../context.ts"

/** Purpose of each tool, as the end of the error message `This service cannot …`. */
const TOOL_PURPOSES = {
  ffmpeg: "process media",
  ffprobe: "read media",
  "yt-dlp": "fetch from the web",
  whisper: "transcribe speech",
} as const satisfies Record<ToolName, string>

/** Throws 503 if no runner has a tool that the tasks of a job need. */
export async function requireJobTools(c: AppContext, { tasks }: JobDraft): Promise<void> {
  const kinds = tasks.flatMap(({ task }) => (task.work ? [task.work.kind] : []))
  await requireTools(
    c,
    kinds.flatMap((kind) => findTaskDefinition(kind) ?? []),
  )
}

/** Throws 503 if no runner has a tool that the given kinds of task need. */
export async function requireTools(
  c: AppContext,
  definitions: readonly TaskDefinition[],
): Promise<void> {
  const missing = await findMissingTools(c.env)
  const needed = definitions.flatMap(({ tools }) => tools)
  const tool = missing.find(({ name }) => needed.includes(name))
  if (tool === undefined) return
  const message = `This service cannot ${TOOL_PURPOSES[tool.name]}: ${tool.reason}. Ask the operator of this service.`
  throw new Problem("tool_missing", message)
}
