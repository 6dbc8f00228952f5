import { Hono } from "hono"
import { z } from "zod"
import { fileRecordSchema } from "../../kinds/file/record.ts"
import { jobRecordSchema } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { showPage } from "../layout.tsx"
import { readUploadLimits } from "./upload-limits.ts"
import { PlaygroundView } from "./playground/view.tsx"

/** Page of the playground. The page's script checks and runs FFmpeg commands through the API. */
export const playgroundPage = new Hono<PageEnv>()

const SCRIPTS = [
  "live.client.js",
  "playground.client.js",
  "tus.min.js",
  "upload.client.js",
] as const
const FILES_MAX = 100

playgroundPage.get("/playground", async (c) => {
  const api = c.get("api")
  const [job, files] = await Promise.all([
    findCommand(c),
    api(`/files?limit=${FILES_MAX}`, z.array(fileRecordSchema)),
  ])
  return await showPage(
    c,
    {
      title: "Playground",
      section: "playground",
      lead: "Build an FFmpeg command, see its errors as you type, and run it.",
      scripts: SCRIPTS,
    },
    <PlaygroundView
      job={job}
      files={files.ok ? files.value.filter(({ status }) => status !== "failed") : []}
      uploadLimits={readUploadLimits(c)}
    />,
  )
})

/**
 * Returns the command job that the query parameter `job` names; null if the account has no such
 * job.
 */
async function findCommand(c: PageContext): Promise<JobRecord | null> {
  const id = c.req.query("job")
  if (id === undefined) return null
  const job = await c.get("api")(`/jobs/${encodeURIComponent(id)}`, jobRecordSchema)
  return job.ok && job.value.kind === "command" ? job.value : null
}
