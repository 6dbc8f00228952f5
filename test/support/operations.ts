import { z } from "zod"
import type { Operation } from "../../src/api/output/operation.ts"
import { FETCH_EXAMPLE_REQUEST } from "../../src/kinds/fetch/request.ts"
import { EXAMPLE_INPUT_REFERENCE } from "../../src/kinds/reference.ts"
import { OPERATIONS } from "../../src/api/routes/operations.ts"
import { fetchWorker } from "./caller.ts"
import type { TestCaller } from "./caller.ts"
import { finishFetch, storeMetadataLookup } from "./media/fetched.ts"
import { storeJobLog } from "./runner/kept-log.ts"
import { finishTranscription } from "./media/transcribed.ts"

const members = z.array(z.looseObject({ id: z.uuid() }))

/**
 * Values of the path parameters of an operation. `input` replaces EXAMPLE_INPUT_REFERENCE in the
 * body.
 */
export type PathParameters = Record<string, string>

/** Returns the query of an operation's example request. */
export function makeExampleQuery({ path, example = {}, query }: Operation): URLSearchParams {
  const given = Object.entries(example).filter(
    ([name]) => Object.hasOwn(query.shape, name) && !path.includes(`{${name}}`),
  )
  return new URLSearchParams(given)
}

/** Returns the path of an operation with its parameters filled in. */
export function makeOperationPath({ path }: Operation, parameters: PathParameters): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ""),
  )
  return `/v1${filled}`
}

/**
 * Sends an operation's example request with additional headers. `bodyType` selects the media type
 * of the body.
 */
export function sendExampleRequest(
  operation: Operation,
  parameters: PathParameters = operation.example ?? {},
  given: Record<string, string> = {},
  bodyType?: string,
): Promise<Response> {
  const { body, headers: typed } = bodyOf(operation, parameters, bodyType)
  const headers = { ...operation.requiredHeaders, ...typed }
  const path = `${makeOperationPath(operation, parameters)}?${makeExampleQuery(operation).toString()}`
  const method = operation.method.toUpperCase()
  return fetchWorker(path, { method, headers: { ...headers, ...given }, ...(body && { body }) })
}

/**
 * Returns an example body of an operation as text or as a form. Uses the first media type by
 * default.
 */
function bodyOf(
  { bodies = {} }: Operation,
  { input = EXAMPLE_INPUT_REFERENCE }: PathParameters,
  bodyType = Object.keys(bodies)[0],
): { body?: string | FormData; headers: Record<string, string> } {
  const [type, given] = Object.entries(bodies).find(([each]) => each === bodyType) ?? []
  if (type === undefined || given === undefined) return { headers: {} }
  if (type === "multipart/form-data") return { body: formOf(given.example), headers: {} }
  if (typeof given.example === "string")
    return { body: given.example, headers: { "content-type": type } }
  const body = JSON.stringify(given.example).replaceAll(EXAMPLE_INPUT_REFERENCE, input)
  return { body, headers: { "content-type": type } }
}

function formOf(example: unknown): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(z.record(z.string(), z.string()).parse(example))) {
    form.append(name, name === "file" ? new File([value], "clip.mp4") : value)
  }
  return form
}

/**
 * Functions that end a job as successful, by the path that creates the job. Only for jobs whose
 * outputs have their own operations.
 */
const ENDS = new Map<string, (caller: TestCaller, jobId: string) => Promise<unknown>>([
  ["/fetch", finishFetch],
  ["/transcribe", finishTranscription],
])

/**
 * Sends the example request of each operation that creates something. No runner runs in these
 * tests: the metadata of the page is stored before, and some jobs are ended by `ENDS`. Those jobs
 * come first, so that the newest job of the account is open and can be canceled.
 */
export async function createExampleResources(caller: TestCaller): Promise<void> {
  await storeMetadataLookup(caller, FETCH_EXAMPLE_REQUEST.url)
  const makers = OPERATIONS.filter(({ bodies, method }) => bodies && method === "post")
  const inputs = makers.filter(({ path }) => path === "/files")
  const ended = makers.filter(({ path }) => ENDS.has(path))
  const others = makers.filter((maker) => !inputs.includes(maker) && !ended.includes(maker))
  for (const operation of [...inputs, ...ended, ...others]) {
    const parameters = await findPathParameters(caller, operation)
    const answer = await sendExampleRequest(operation, parameters, { "x-api-key": caller.key })
    if (!answer.ok) throw new Error(`${operation.operationId}: ${await answer.text()}`)
    const end = ENDS.get(operation.path)
    await end?.(caller, (await newestOf(caller, operation.path)).id)
  }
}

/**
 * Returns path parameters that name existing data of the account: the newest member of the
 * collection in the operation's path. If the operation requires a finished job, ends the job first.
 */
export async function findPathParameters(
  caller: TestCaller,
  operation: Operation,
): Promise<PathParameters> {
  const [collection = "", rest] = operation.path.split("/{id}")
  if (rest === undefined) {
    const { body } = bodyOf(operation, {})
    if (typeof body !== "string" || !body.includes(EXAMPLE_INPUT_REFERENCE)) return {}
    return { input: `svc_id://${(await newestOf(caller, "/files")).id}` }
  }
  const member = await newestOf(caller, collection)
  const texts = Object.entries(member).filter(([, value]) => typeof value === "string")
  const linked = member["download_url"] ?? member["srt"]
  const name = typeof linked === "string" ? { name: decodeURIComponent(lastOf(linked)) } : {}
  const parameters = {
    ...name,
    ...Object.fromEntries(texts.map(([field, value]) => [field, String(value)])),
  }
  if (operation.errors?.includes("no_log")) await storeJobLog(member.id)
  if (operation.errors?.includes("not_final")) {
    const end = OPERATIONS.find(
      ({ path, errors }) => path.startsWith(collection) && errors?.includes("already_final"),
    )
    if (end) await sendExampleRequest(end, parameters, { "x-api-key": caller.key })
  }
  return parameters
}

function lastOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1)
}

async function newestOf(caller: TestCaller, collection: string) {
  const [member] = members.parse(await (await caller.call(collection)).json())
  if (!member) throw new Error(`${collection} has no members`)
  return member
}
