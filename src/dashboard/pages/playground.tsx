import { Hono } from "hono"
import { z } from "zod"
import { fileRecord } from "../../kinds/file/record.ts"
import { jobRecord } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import type { PageContext, Pages } from "../context.ts"
import { showPage } from "../layout.tsx"
import { fileBytesMax } from "./limits.ts"
import { PlaygroundView } from "./playground/view.tsx"

/** The page of the playground, whose script checks and runs commands through /v1. */
export const playground = new Hono<Pages>()

const SCRIPTS = ["live.client.js", "playground.client.js", "upload.client.js"] as const
const FILES_MAX = 100

playground.get("/playground", async (c) => {
  const api = c.get("api")
  const [job, files] = await Promise.all([
    findCommand(c),
    api(`/files?limit=${FILES_MAX}`, z.array(fileRecord)),
  ])
  return await showPage(
    c,
    {
      title: "Playground",
      section: "playground",
      lead: "Build an FFmpeg command, see what is wrong with it as you type, and run it.",
      scripts: SCRIPTS,
    },
    <PlaygroundView
      job={job}
      files={files.ok ? files.value.filter(({ status }) => status !== "failed") : []}
      bytesMax={fileBytesMax(c)}
    />,
  )
})

/** The job that `?job=` names, where it is a command of the account; null otherwise. */
async function findCommand(c: PageContext): Promise<JobRecord | null> {
  const id = c.req.query("job")
  if (id === undefined) return null
  const job = await c.get("api")(`/jobs/${encodeURIComponent(id)}`, jobRecord)
  return job.ok && job.value.kind === "command" ? job.value : null
}
