import { getRetention } from "../../bindings/env.ts"
import type { Fault } from "../../domain/faults.ts"
import type { CommonRequestFields, ResolvedInput, JsonKind, Kind } from "../../kinds/kind.ts"
import { PRIORITY_DEFAULT } from "../../kinds/create-fields.ts"
import { findInputFileFaults } from "../../kinds/reference.ts"
import { draftSourceTasks } from "../../kinds/sources.ts"
import { describeOversizedInputs, findInputBytesLimit } from "../../jobs/input-bytes-limit.ts"
import { findChainFaults, listNeededJobIds } from "../../jobs/chains.ts"
import {
  acceptJob,
  findAcceptedJob,
  findInputRowsAndAcceptedJob,
  hasInputIds,
} from "../../jobs/create.ts"
import type { JobAcceptance, AcceptedJob, JobCreatorWithLimits } from "../../jobs/create.ts"
import type { JobDraft, JobProperties } from "../../domain/job-draft.ts"
import type { InputIds, InputRows } from "../../db/files/input-files.ts"
import { readDeploymentProperties, readValidationContext } from "../../jobs/validation-context.ts"
import { resolveInputs, readInputReferences } from "./resolve-inputs.ts"
import type { BodyWithReferences, ResolvableInputs, UploadedInput } from "./resolve-inputs.ts"
import {
  anyObjectSchema,
  safeParseBody,
  getPublicOrigin,
  readIdempotencyKeyAndHash,
} from "./request.ts"
import { exceededLimitProblem } from "../output/limit-problem.ts"
import { Problem, invalidFieldProblem, invalidFieldsProblem } from "../output/problem.ts"
import type { AppContext } from "../context.ts"
import { requireJobTools } from "./required-tools.ts"
import { parseWebhookUrl, findWebUrlFaults } from "./user-urls.ts"

/** Minimum size in bytes of a large request body. Smaller bodies validate in a few milliseconds. */
const LARGE_BODY_BYTES_MIN = 64 * 1024
/**
 * Maximum number of rounds of the event loop for which the validation of a large body is delayed.
 */
const WAIT_ROUNDS_MAX = 100

/** Number of large bodies whose validation this isolate has begun since its start. */
let turnsTaken = 0

/**
 * Delays the validation of a request body that is large or of unknown size. Validation blocks the
 * thread, so each round of the event loop validates one large body; other requests run in between.
 */
export async function delayLargeBodyValidation(c: Pick<AppContext, "req">): Promise<void> {
  if (Number(c.req.header("content-length") ?? LARGE_BODY_BYTES_MIN) < LARGE_BODY_BYTES_MIN) return
  for (let round = 0; round < WAIT_ROUNDS_MAX; round += 1) {
    const before = turnsTaken
    await scheduler.wait(0)
    if (turnsTaken === before) break
  }
  turnsTaken += 1
}

const NO_IDS: InputIds = { fileIds: [], jobIds: [] }

/** The created job, and whether an earlier request with the same `Idempotency-Key` created it. */
export type CreatedJob = AcceptedJob

/** Body of a create request as the client sent it: parsed JSON, or the fields of a form. */
export type CreateRequestBody = {
  body: object
  upload?: UploadedInput
  /**
   * Rewrites the faults (invalid fields) of the body in terms of the fields that the caller sent.
   */
  mapFaults?: (faults: Fault[]) => Fault[]
}

/**
 * Creates the job that `makeDraft` returns. A repeated `Idempotency-Key` returns the job of the
 * first request if the `identity` of both requests (their compared content) is equal; a null
 * `identity` ignores the key. `ids` names the files and jobs that the inputs need; the query that
 * reads these rows also looks up the key. If `ids` is empty, the key is compared only when the job
 * is inserted.
 */
export async function acceptCreateRequest(
  c: AppContext,
  { identity, ids = NO_IDS }: { identity: unknown; ids?: InputIds },
  makeDraft: (rows: InputRows) => Promise<JobDraft>,
): Promise<CreatedJob> {
  const once = identity === null ? null : await readIdempotencyKeyAndHash(c, identity)
  const database = c.get("database")
  const { rows, known } = await findInputRowsAndAcceptedJob(database, ids, once)
  if (known) return requireAcceptedJob(c, known)
  const drafted = await draftFrom(rows).catch(async (error: unknown) => {
    // Return the job of an earlier request with the same key, even if the request would be refused
    // now.
    const earlier = !hasInputIds(ids) && once ? await findAcceptedJob(database, once) : null
    if (earlier) return earlier
    throw error
  })
  if (drafted === "conflict" || "jobId" in drafted) return requireAcceptedJob(c, drafted)
  const by = { database, creating: readJobCreator(c) }
  return requireAcceptedJob(c, await acceptJob(c.env, c.executionCtx, by, { ...drafted, once }))

  async function draftFrom(found: InputRows): Promise<JobDraft> {
    const draft = await makeDraft(found)
    await requireJobTools(c, draft)
    return draft
  }
}

/**
 * Returns the creator of a job: the API key and id of the request, and the limits of the account.
 */
export function readJobCreator(c: AppContext): JobCreatorWithLimits {
  const { key, limits, requestId } = c.var
  return { keyId: key?.id ?? null, requestId, limits }
}

/**
 * Returns a created job, and sets the header `idempotent-replayed` if an earlier request created
 * the job. Throws 409 if a different request used the `Idempotency-Key`, and 429 or 403 if the job
 * exceeds a limit of the account.
 */
export function requireAcceptedJob(c: AppContext, accepted: JobAcceptance): CreatedJob {
  if (accepted === "conflict") {
    const message = "Another request used this Idempotency-Key; use a new key."
    throw new Problem("idempotency_conflict", message)
  }
  if ("exceeded" in accepted) throw exceededLimitProblem(accepted.exceeded)
  if (accepted.replayed) c.header("idempotent-replayed", "true")
  return accepted
}

/** Parses the body of a create request; throws 422 with all invalid fields. */
export async function parseCreateRequest<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  create: CreateRequestBody,
): Promise<Input> {
  const checked = safeParseBody(kind.request, create.body)
  if ("data" in checked) return checked.data
  throw faultsProblem(create, (await validateCreateRequest(c, kind, create)).faults)
}

/**
 * Create request with the rows of its inputs: the data from which a job is drafted, that is,
 * prepared without being stored.
 */
export type CreateRequestWithInputs<Usable> = CreateRequestBody & {
  read: BodyWithReferences<Usable>
} & Pick<ResolvableInputs, "rows" | "batchJobs">

/**
 * Prepares the rows of the job of a create request without storing them (a draft). Throws 422 with
 * all faults of the request.
 */
export async function draftRequestedJob<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  request: Input,
  create: CreateRequestWithInputs<Usable>,
): Promise<JobDraft> {
  const drafted = await draftJobOrFaults(c, kind, request, create)
  if ("faults" in drafted) throw faultsProblem(create, drafted.faults)
  return drafted.draft
}

/**
 * Prepares the rows of the job of a create request without storing them (a draft). Returns all
 * faults of an invalid request instead.
 */
export async function draftJobOrFaults<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  request: Input,
  create: CreateRequestWithInputs<Usable>,
): Promise<{ draft: JobDraft } | { faults: Fault[] }> {
  const { faults, inputs } = await validateFields(c, kind, { ...create, body: request }, new Set())
  if (faults.length > 0) return { faults }
  const { runSecondsMax, fileBytesMax } = c.get("limits")
  const limits = { runSecondsMax, fileBytesMax }
  const fields = kind.createFields?.(request) ?? request
  const facts = { ...readJobProperties(c, fields), ...readDeploymentProperties(c.env), ...limits }
  const draft = draftSourceTasks(kind.plan(request, { ...facts, inputs }), facts, inputs)
  return { draft: { ...draft, neededJobIds: listNeededJobIds(inputs) } }
}

function faultsProblem({ mapFaults }: CreateRequestBody, faults: Fault[]): Problem {
  return invalidFieldsProblem(mapFaults ? mapFaults(faults) : faults)
}

/** Returns all faults of a request body, and the inputs whose references are valid. */
export async function validateCreateRequest<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  create: CreateRequestBody,
): Promise<{ faults: Fault[]; inputs: ResolvedInput[] }> {
  const checked = safeParseBody(kind.request, create.body)
  const malformed = "faults" in checked ? checked.faults : []
  const corrected = { ...create, body: replaceMisspelledBodyFields(checked, create) }
  const read = readInputReferences(c, kind, corrected)
  const { rows } = await findInputRowsAndAcceptedJob(c.get("database"), read.ids, null)
  return await validateOtherFields(c, kind, { ...corrected, read, rows }, malformed)
}

/**
 * Returns all faults of a request: first those that the schema found (`malformed`), then those of
 * the other fields. Also returns the inputs whose references are valid.
 */
export async function validateOtherFields<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  request: CreateRequestWithInputs<Usable>,
  malformed: readonly Fault[],
): Promise<{ faults: Fault[]; inputs: ResolvedInput[] }> {
  const fields = new Set(malformed.map(({ field }) => topLevelField(field)))
  const verdict = await validateFields(c, kind, request, fields)
  const others = verdict.faults.filter(({ field }) => !fields.has(topLevelField(field)))
  return { ...verdict, faults: [...malformed, ...others] }
}

/** Returns a request body with misspelled field names replaced by the correct ones. */
export function replaceMisspelledBodyFields(
  checked: { data: object } | { corrected: unknown },
  { body }: CreateRequestBody,
): object {
  return "corrected" in checked ? anyObjectSchema.catch({}).parse(checked.corrected) : body
}

/**
 * Returns the faults that the schema of the request cannot detect. `malformed` are the names of
 * fields in which the schema has found a fault.
 */
async function validateFields<Input extends CommonRequestFields, Usable>(
  c: AppContext,
  kind: JsonKind<Input, Usable>,
  { body, read, ...found }: CreateRequestWithInputs<Usable>,
  malformed: ReadonlySet<string>,
): Promise<{ faults: Fault[]; inputs: ResolvedInput[] }> {
  const { usable, references } = read
  const { inputs, faults: unreadable } = resolveInputs(c, references, found)
  const unusable = inputs.flatMap((input) => findInputFileFaults(kind.title, input))
  const oversized = await findInputSizeFaults(c, kind, inputs)
  const tooLong = found.batchJobs ? [] : await findChainFaults(c.get("database"), inputs)
  const deployment = await readValidationContext(c.env)
  const urls = kind.urls?.(usable) ?? []
  const webhooks = kind.webhooks?.(usable) ?? listWebhooks(body)
  await delayLargeBodyValidation(c)
  return {
    faults: [
      ...webhooks.flatMap(({ field, url }) => findWebhookFaults(c, field, url)),
      ...findExpiryFaults(c, body),
      ...urls.flatMap(({ field, url }) => findWebUrlFaults(c, field, url)),
      ...unreadable,
      ...unusable,
      ...oversized,
      ...tooLong,
      ...kind.judge(usable, inputs, malformed, deployment),
    ],
    inputs,
  }
}

/**
 * Returns a fault if the total size of all inputs of a job is too large. A file with several
 * references counts once.
 */
async function findInputSizeFaults(
  c: AppContext,
  { tasks }: Pick<Kind, "tasks">,
  inputs: ResolvedInput[],
): Promise<Fault[]> {
  const sizes = new Map(inputs.map((input) => [input.fileId, readSizeBytes(input)]))
  if (sizes.values().every((bytes) => bytes === null)) return []
  const pools = tasks.map((task) => task.pool({}))
  const message = describeOversizedInputs(
    sizes,
    await findInputBytesLimit(c.env, c.get("limits"), pools),
  )
  const field = topLevelField(inputs[0]?.field ?? "")
  return message === null ? [] : [{ field, code: "inputs_too_large", message }]
}

function readSizeBytes({ file, source }: ResolvedInput): number | null {
  return source && "sizeBytes" in source ? source.sizeBytes : (file?.sizeBytes ?? null)
}

/** Reads the fields that jobs of every kind share; throws 422 if the webhook URL is not allowed. */
export function readJobProperties(c: AppContext, fields: CommonRequestFields): JobProperties {
  const [webhook] = listWebhooks(fields)
  return {
    origin: getPublicOrigin(c),
    now: Date.now(),
    priority: fields.priority ?? PRIORITY_DEFAULT,
    metadata: fields.metadata ?? null,
    webhookUrl: webhook ? readWebhookUrl(c, webhook.field, webhook.url) : null,
    webhookForm: webhook?.field === "webhook_url" ? "job" : "native",
    retentionMs: readRetentionMs(c, fields),
    publish: fields.publish ?? null,
  }
}

/**
 * Returns the webhook URLs of a request body with the names of their fields. A valid body contains
 * only one of the two possible fields.
 */
function listWebhooks(body: object): { field: string; url: string }[] {
  const fields = new Map<string, unknown>(Object.entries(body))
  return ["webhook", "webhook_url"].flatMap((field) => {
    const url = fields.get(field)
    return typeof url === "string" ? [{ field, url }] : []
  })
}

/** Returns a fault if a webhook URL is not allowed. */
function findWebhookFaults(c: AppContext, field: string, text: string): Fault[] {
  const checked = parseWebhookUrl(c, text)
  return "error" in checked ? [{ field, message: checked.error }] : []
}

/** Returns the normalized webhook URL; throws 422 on `field` if the URL is not allowed. */
export function readWebhookUrl(c: AppContext, field: string, text: string): string {
  const checked = parseWebhookUrl(c, text)
  if ("error" in checked) throw invalidFieldProblem(field, checked.error)
  return checked.url.href
}

function topLevelField(field: string): string {
  return field.split(".", 1)[0] ?? ""
}

/** Returns a fault if `expires_in` (seconds) exceeds the setting RETENTION_DAYS. */
function findExpiryFaults(c: AppContext, body: object): Fault[] {
  const seconds: unknown = new Map<string, unknown>(Object.entries(body)).get("expires_in")
  const { retentionMsMax } = getRetention(c.env)
  if (typeof seconds !== "number" || retentionMsMax === null || seconds * 1000 <= retentionMsMax)
    return []
  const message = `expected at most ${retentionMsMax / 1000}, the longest retention of this service`
  return [{ field: "expires_in", message }]
}

/**
 * Returns the time for which a job and its files are kept after the job's end, in milliseconds;
 * null keeps the files forever. Throws 422 if `expires_in` exceeds the setting RETENTION_DAYS.
 */
function readRetentionMs(
  c: AppContext,
  fields: { expires_in?: number | null | undefined },
): number | null {
  const faults = findExpiryFaults(c, fields)
  if (faults.length > 0) throw invalidFieldsProblem(faults)
  const seconds = fields.expires_in ?? null
  return seconds === null ? getRetention(c.env).retentionMsMax : seconds * 1000
}
