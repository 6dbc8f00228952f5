import { readSpeechModels } from "../contract/speech-models.ts"
import { settingsOf } from "../env.ts"
import type { Fault } from "../faults.ts"
import type {
  CreateRequest,
  DeploymentFacts,
  FoundInput,
  JsonKind,
  JudgeFacts,
  Kind,
} from "../kinds/kind.ts"
import { knownFfmpeg } from "../kinds/command/facts/known.ts"
import { PRIORITY_DEFAULT } from "../kinds/create-fields.ts"
import { judgeInput } from "../kinds/reference.ts"
import { withSources } from "../kinds/sources.ts"
import { describeOversize, findInputRoom } from "../pipeline/jobs/input-room.ts"
import { acceptJob, findAccepted, findForCreate } from "../pipeline/jobs/create.ts"
import type { Accepted, AcceptedJob, Creating } from "../pipeline/jobs/create.ts"
import type { JobDraft, JobFacts } from "../storage/job-drafts.ts"
import type { File } from "../storage/schema/files.ts"
import { findInputs, readInputs } from "./create-inputs.ts"
import type { ReadBody, UploadedInput } from "./create-inputs.ts"
import { takeTurn } from "./large-turns.ts"
import { anyObject, checkBody, publicOrigin, readIdempotency } from "./request.ts"
import { limitProblem } from "./limit-problem.ts"
import { Problem, unprocessable, unprocessables } from "./problem.ts"
import type { AppContext } from "./request.ts"
import { expiryFaults, readRetentionMs } from "./retention.ts"
import { requireToolsOf } from "./required-tools.ts"
import { checkWebhookUrl, urlFaults } from "./user-urls.ts"

/** The job that is to be shown, and whether an earlier request made it. */
export type Created = AcceptedJob

/** The body of a create as it was given, in whichever form. */
export type GivenBody = {
  body: object
  upload?: UploadedInput
  /** Faults as the form of the body has them. */
  tell?: (faults: Fault[]) => Fault[]
}

/**
 * Accepts the job that a request asks for, once where the caller gave an `Idempotency-Key`;
 * `identity` is what makes two requests the same one, and `fileIds` are the files that its draft is
 * made from. An earlier request of the same key is looked up with these; where there are none, the
 * create itself finds it.
 */
export async function acceptCreate(
  c: AppContext,
  { identity, fileIds = [] }: { identity: unknown; fileIds?: readonly string[] },
  makeDraft: (files: File[]) => Promise<JobDraft>,
): Promise<Created> {
  const once = await readIdempotency(c, identity)
  const database = c.get("database")
  const { files, known } = await findForCreate(database, fileIds, once)
  if (known) return answerAccepted(c, known)
  const drafted = await draftFrom(files).catch(async (error: unknown) => {
    // Who sends a create again is told what it made, and not how it would be judged now.
    const earlier = fileIds.length === 0 && once ? await findAccepted(database, once) : null
    if (earlier) return earlier
    throw error
  })
  if (drafted === "conflict" || "jobId" in drafted) return answerAccepted(c, drafted)
  const by = { database, creating: creatingOf(c) }
  return answerAccepted(c, await acceptJob(c.env, c.executionCtx, by, { ...drafted, once }))

  async function draftFrom(found: File[]): Promise<JobDraft> {
    const draft = await makeDraft(found)
    await requireToolsOf(c, draft)
    return draft
  }
}

/** Who creates a job by a request, and within which limits. */
export function creatingOf(c: AppContext): Creating {
  const { key, limits, requestId } = c.var
  return { keyId: key?.id ?? null, requestId, limits }
}

/**
 * Marks the answer of a repeated create; 409 where its key was used for another request, 429 or 403
 * where the job would exceed a limit of its account.
 */
export function answerAccepted(c: AppContext, accepted: Accepted): Created {
  if (accepted === "conflict") {
    const message = "This Idempotency-Key was used for another request; use a new one."
    throw new Problem("idempotency_conflict", message)
  }
  if ("exceeded" in accepted) throw limitProblem(accepted.exceeded)
  if (accepted.replayed) c.header("idempotent-replayed", "true")
  return accepted
}

/** The request that a body is; 422 with all that is wrong with it. */
export async function readRequest<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  given: GivenBody,
): Promise<Input> {
  const checked = checkBody(kind.request, given.body)
  if ("data" in checked) return checked.data
  throw refused(given, (await judgeBody(c, kind, given)).faults)
}

/** The job that a request asks for, of these files; 422 with all that is wrong with it. Writes nothing. */
export async function draftRequest<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  request: Input,
  given: GivenBody & { read: ReadBody<Usable>; files: File[] },
): Promise<JobDraft> {
  const { faults, inputs } = await judgeFields(c, kind, { ...given, body: request }, new Set())
  if (faults.length > 0) throw refused(given, faults)
  const { runSecondsMax, fileBytesMax } = c.get("limits")
  const limits = { runSecondsMax, fileBytesMax }
  const fields = kind.createFields?.(request) ?? request
  const facts = { ...readJobFacts(c, fields), ...deploymentFacts(c), ...limits }
  return withSources(kind.plan(request, { ...facts, inputs }), facts, inputs)
}

function refused({ tell }: GivenBody, faults: Fault[]): Problem {
  return unprocessables(tell ? tell(faults) : faults)
}

/** All that is wrong with a body, what it asks for included as far as that can be read. */
export async function judgeBody<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  given: GivenBody,
): Promise<{ faults: Fault[]; inputs: FoundInput[] }> {
  const checked = checkBody(kind.request, given.body)
  const malformed = "faults" in checked ? checked.faults : []
  const fields = new Set(malformed.map(({ field }) => rootOf(field)))
  const meant = { ...given, body: bodyOf(checked, given) }
  const read = readInputs(c, kind, meant)
  const { files } = await findForCreate(c.get("database"), read.fileIds, null)
  const judged = await judgeFields(c, kind, { ...meant, read, files }, fields)
  const others = judged.faults.filter(({ field }) => !fields.has(rootOf(field)))
  return { ...judged, faults: [...malformed, ...others] }
}

/** A body with its fields under the names that were meant. */
function bodyOf(checked: { data: object } | { meant: unknown }, { body }: GivenBody): object {
  return "meant" in checked ? anyObject.catch({}).parse(checked.meant) : body
}

/** What is wrong with the fields of a body beyond its schema, which `malformed` ones do not fit. */
async function judgeFields<Input extends CreateRequest, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  { body, upload, read, files: found }: GivenBody & { read: ReadBody<Usable>; files: File[] },
  malformed: ReadonlySet<string>,
): Promise<{ faults: Fault[]; inputs: FoundInput[] }> {
  const { usable, references } = read
  const { inputs, faults: unreadable } = findInputs(c, references, { found, upload })
  const unusable = inputs.flatMap((input) => judgeInput(kind.title, input))
  const oversized = await judgeRoom(c, kind, inputs)
  const deployment = await judgeFacts(c)
  const urls = kind.urls?.(usable) ?? []
  const webhooks = kind.webhooks?.(usable) ?? webhooksOf(body)
  await takeTurn(c)
  return {
    faults: [
      ...webhooks.flatMap(({ field, url }) => webhookFaults(c, field, url)),
      ...expiryFaults(c, body),
      ...urls.flatMap(({ field, url }) => urlFaults(c, field, url)),
      ...unreadable,
      ...unusable,
      ...oversized,
      ...kind.judge(usable, inputs, malformed, deployment),
    ],
    inputs,
  }
}

/** What is wrong with inputs as a whole: a file that several name counts once. */
async function judgeRoom(
  c: AppContext,
  { tasks }: Pick<Kind, "tasks">,
  inputs: FoundInput[],
): Promise<Fault[]> {
  const sizes = new Map(inputs.map((input) => [input.fileId, sizeOf(input)]))
  if (sizes.values().every((bytes) => bytes === null)) return []
  const pools = tasks.map((task) => task.pool({}))
  const message = describeOversize(sizes, await findInputRoom(c.env, c.get("limits"), pools))
  const field = rootOf(inputs[0]?.field ?? "")
  return message === null ? [] : [{ field, code: "inputs_too_large", message }]
}

function sizeOf({ file, source }: FoundInput): number | null {
  return source && "sizeBytes" in source ? source.sizeBytes : (file?.sizeBytes ?? null)
}

/** What every job is made of; 422 where its webhook may not be called. */
export function readJobFacts(c: AppContext, fields: CreateRequest): JobFacts {
  const [webhook] = webhooksOf(fields)
  return {
    origin: publicOrigin(c),
    now: Date.now(),
    priority: fields.priority ?? PRIORITY_DEFAULT,
    metadata: fields.metadata ?? null,
    webhookUrl: webhook ? readWebhookUrl(c, webhook.field, webhook.url) : null,
    webhookForm: webhook?.field === "webhook_url" ? "job" : "native",
    retentionMs: readRetentionMs(c, fields),
  }
}

/** The URLs that a body names to be called at the end, by field: one, where nothing is wrong. */
function webhooksOf(body: object): { field: string; url: string }[] {
  const named = new Map<string, unknown>(Object.entries(body))
  return ["webhook", "webhook_url"].flatMap((field) => {
    const url = named.get(field)
    return typeof url === "string" ? [{ field, url }] : []
  })
}

/** What requests are judged by in this deployment. */
export async function judgeFacts(c: AppContext): Promise<JudgeFacts> {
  return { ...deploymentFacts(c), ffmpeg: await knownFfmpeg(settingsOf(c.env).FFMPEG_FACTS) }
}

function deploymentFacts(c: AppContext): DeploymentFacts {
  return { speechModels: readSpeechModels(settingsOf(c.env)) }
}

/** What is wrong with a URL to deliver to. */
function webhookFaults(c: AppContext, field: string, text: string): Fault[] {
  const checked = checkWebhookUrl(c, text)
  return "error" in checked ? [{ field, message: checked.error }] : []
}

/** A URL to deliver to, checked as every user URL is; the error names the field. */
export function readWebhookUrl(c: AppContext, field: string, text: string): string {
  const checked = checkWebhookUrl(c, text)
  if ("error" in checked) throw unprocessable(field, checked.error)
  return checked.url.href
}

function rootOf(field: string): string {
  return field.split(".", 1)[0] ?? ""
}
