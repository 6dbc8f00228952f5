import { Hono } from "hono"
import { z } from "zod"
import { commandRecord } from "../../kinds/command/record.ts"
import type { CommandPart } from "../../kinds/command/request.ts"
import { fileRecord } from "../../kinds/file/record.ts"
import { jobRecord } from "../../kinds/job-record.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { unprocessables } from "../../http/problem.ts"
import { publicOrigin } from "../../http/request.ts"
import { newId } from "../../ids.ts"
import type { PageContext, Pages } from "../context.ts"
import { showPage } from "../layout.tsx"
import { parseForm } from "../read-form.ts"
import { fileBytesMax } from "./limits.ts"
import { checkDraft, placeFaults } from "./playground/check.ts"
import type { Check } from "./playground/check.ts"
import {
  draftOfRecipe,
  draftOfRequest,
  nextKey,
  readDraft,
  requestOfDraft,
  ROWS_MAX,
} from "./playground/draft.ts"
import type { Draft } from "./playground/draft.ts"
import { findRecipe, RECIPES } from "./playground/recipes.ts"
import { PlaygroundView } from "./playground/view.tsx"

/** Builds a command, says what is wrong with it, runs it and shows what came of it. */
export const playground = new Hono<Pages>()

const PATH = "/playground"
const SCRIPTS = ["live.client.js", "playground.client.js", "upload.client.js"] as const
const FILES_MAX = 100
const START = RECIPES[0]

playground.get(PATH, async (c) => {
  const { job: jobId, file, recipe: recipeId } = c.req.query()
  const [job, before] = jobId === undefined ? [null, null] : await findRun(c, jobId)
  if (before) return await show(c, { draft: draftOfRequest(before), job })
  const recipe = findRecipe(recipeId) ?? (file === undefined ? START : findRecipe("720p")) ?? START
  return await show(c, {
    draft: draftOfRecipe(recipe, file === undefined ? [] : [`svc_id://${file}`]),
  })
})

playground.post(PATH, async (c) => {
  const form = await parseForm(c)
  requireFewRows(form)
  const draft = readDraft(form)
  const action = form.get("action")
  if (action === "run") return await run(c, draft, form.get("once"))
  return await show(c, { draft: changed(draft, action) })
})

/** Refuses a form of more rows than a command has files: each row lists all files of the account. */
function requireFewRows(form: FormData): void {
  for (const field of ["input_key", "output_key"]) {
    const { length } = form.getAll(field)
    const message = `there are ${length} rows; expected at most ${ROWS_MAX}`
    if (length > ROWS_MAX) throw unprocessables([{ field, code: "too_complex", message }])
  }
}

/** A draft after a button that changes its rows. */
function changed(draft: Draft, action: unknown): Draft {
  const { inputs, outputs } = draft
  if (action === "recipe") {
    const recipe = findRecipe(draft.recipe)
    return recipe
      ? draftOfRecipe(
          recipe,
          inputs.map(({ reference }) => reference),
        )
      : draft
  }
  if (action === "add-input" && inputs.length < ROWS_MAX) {
    return { ...draft, inputs: [...inputs, { key: nextKey("in", inputs), reference: "" }] }
  }
  if (action === "add-output" && outputs.length < ROWS_MAX) {
    return { ...draft, outputs: [...outputs, { key: nextKey("out", outputs), name: "" }] }
  }
  const dropped = /^drop-(input|output)-(\d{1,2})$/.exec(typeof action === "string" ? action : "")
  const at = Number(dropped?.[2])
  if (dropped?.[1] === "input") return { ...draft, inputs: inputs.toSpliced(at, 1) }
  if (dropped?.[1] === "output") return { ...draft, outputs: outputs.toSpliced(at, 1) }
  return draft
}

const accepted = z.object({ command_id: z.uuid() })

/** Runs a draft once for each `once`; the page of its job is this page with it. */
async function run(c: PageContext, draft: Draft, once: unknown): Promise<Response> {
  const json = requestOfDraft(draft)
  const known = typeof once === "string" && /^[\w-]{8,64}$/.test(once) ? once : newId()
  const first = await createCommand(c, json, known)
  // What was run at this key is another command: this one is not it again.
  const isOther = !first.ok && first.code === "idempotency_conflict"
  const answer = isOther ? await createCommand(c, json, newId()) : first
  if (answer.ok) return c.redirect(`${PATH}?job=${answer.value.command_id}#result`, 303)
  const { faults, message, status } = answer
  const told = faults.length > 0 ? faults : [{ field: "", message }]
  const check = placeFaults(draft, told, [])
  return await show(c, { draft, check, status: status === 403 || status === 429 ? status : 422 })
}

async function createCommand(c: PageContext, json: CommandPart, once: string) {
  const headers = { "idempotency-key": once }
  return await c.get("api")("/commands", accepted, { method: "POST", json, headers })
}

/** The job of a command that was run, and its request; null of one that is not there. */
async function findRun(c: PageContext, id: string) {
  const path = encodeURIComponent(id)
  const [job, command] = await Promise.all([
    c.get("api")(`/jobs/${path}`, jobRecord),
    c.get("api")(`/commands/${path}`, commandRecord),
  ])
  if (!job.ok || !command.ok) return [null, null] as const
  return [job.value, command.value.original_request] as const
}

type Shown = {
  draft: Draft
  check?: Check
  job?: JobRecord | null
  status?: 200 | 403 | 422 | 429
}

async function show(c: PageContext, { draft, check, job = null, status = 200 }: Shown) {
  const api = c.get("api")
  const [files, judged] = await Promise.all([
    api(`/files?limit=${FILES_MAX}`, z.array(fileRecord)),
    check ?? checkDraft(api, draft),
  ])
  return await showPage(
    c,
    {
      title: "Playground",
      section: "playground",
      lead: "Build an FFmpeg command, see what is wrong with it as you type, and run it.",
      scripts: SCRIPTS,
      status,
    },
    <PlaygroundView
      draft={draft}
      check={judged}
      job={job}
      files={files.ok ? files.value.filter(({ status: state }) => state !== "failed") : []}
      url={`${publicOrigin(c)}/v1/commands`}
      once={newId()}
      bytesMax={fileBytesMax(c)}
    />,
  )
}
