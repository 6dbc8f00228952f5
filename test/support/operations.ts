import { z } from "zod"
import type { Operation } from "../../src/api/output/operation.ts"
import { EXAMPLE_REQUEST } from "../../src/kinds/fetch/request.ts"
import { EXAMPLE_INPUT } from "../../src/kinds/reference.ts"
import { OPERATIONS } from "../../src/api/routes/operations.ts"
import { ask } from "./caller.ts"
import type { Caller } from "./caller.ts"
import { finishFetch, knowMetadata } from "./media/fetched.ts"
import { keepLog } from "./runner/kept-log.ts"
import { finishTranscription } from "./media/transcribed.ts"

const members = z.array(z.looseObject({ id: z.uuid() }))

/** Values of the parameters of a path; `input` is what EXAMPLE_INPUT stands for. */
export type Parameters = Record<string, string>

/** The query of an operation's own example of a request. */
export function queryOf({ path, example = {}, query }: Operation): URLSearchParams {
  const given = Object.entries(example).filter(
    ([name]) => Object.hasOwn(query.shape, name) && !path.includes(`{${name}}`),
  )
  return new URLSearchParams(given)
}

/** The address of an operation, its parameters filled in. */
export function pathOf({ path }: Operation, parameters: Parameters): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ""),
  )
  return `/v1${filled}`
}

/** Sends an operation's own example of a request, as whoever has these headers; one of its bodies. */
export function sendExample(
  operation: Operation,
  parameters: Parameters = operation.example ?? {},
  given: Record<string, string> = {},
  bodyType?: string,
): Promise<Response> {
  const { body, headers: typed } = bodyOf(operation, parameters, bodyType)
  const headers = { ...operation.requiredHeaders, ...typed }
  const path = `${pathOf(operation, parameters)}?${queryOf(operation).toString()}`
  const method = operation.method.toUpperCase()
  return ask(path, { method, headers: { ...headers, ...given }, ...(body && { body }) })
}

/** A body of an operation as it is sent, its first or the one of a type: its example, JSON or a form. */
function bodyOf(
  { bodies = {} }: Operation,
  { input = EXAMPLE_INPUT }: Parameters,
  bodyType = Object.keys(bodies)[0],
): { body?: string | FormData; headers: Record<string, string> } {
  const [type, given] = Object.entries(bodies).find(([each]) => each === bodyType) ?? []
  if (type === undefined || given === undefined) return { headers: {} }
  if (type === "multipart/form-data") return { body: formOf(given.example), headers: {} }
  if (typeof given.example === "string")
    return { body: given.example, headers: { "content-type": type } }
  const body = JSON.stringify(given.example).replaceAll(EXAMPLE_INPUT, input)
  return { body, headers: { "content-type": type } }
}

function formOf(example: unknown): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(z.record(z.string(), z.string()).parse(example))) {
    form.append(name, name === "file" ? new File([value], "clip.mp4") : value)
  }
  return form
}

/** How jobs are ended as if they were done whose outputs have operations of their own, by path. */
const ENDS = new Map<string, (caller: Caller, jobId: string) => Promise<unknown>>([
  ["/fetch", finishFetch],
  ["/transcribe", finishTranscription],
])

/**
 * Has an account make whatever creates with a body make. Nobody does work in these tests: what a
 * page says of its video is known before, and jobs that are to be over are ended as if they were
 * done. These come before jobs that stay open, so that the newest is one that can be canceled.
 */
export async function makeMembers(caller: Caller): Promise<void> {
  await knowMetadata(caller, EXAMPLE_REQUEST.url)
  const makers = OPERATIONS.filter(({ bodies, method }) => bodies && method === "post")
  const inputs = makers.filter(({ path }) => path === "/files")
  const ended = makers.filter(({ path }) => ENDS.has(path))
  const others = makers.filter((maker) => !inputs.includes(maker) && !ended.includes(maker))
  for (const operation of [...inputs, ...ended, ...others]) {
    const parameters = await findParameters(caller, operation)
    const answer = await sendExample(operation, parameters, { "x-api-key": caller.key })
    if (!answer.ok) throw new Error(`${operation.operationId}: ${await answer.text()}`)
    const end = ENDS.get(operation.path)
    await end?.(caller, (await newestOf(caller, operation.path)).id)
  }
}

/**
 * Parameters of an operation's path that name something the account has: the newest member of the
 * collection that the path is below. Where the operation is for members that are over, it is ended.
 */
export async function findParameters(caller: Caller, operation: Operation): Promise<Parameters> {
  const [collection = "", rest] = operation.path.split("/{id}")
  if (rest === undefined) {
    const { body } = bodyOf(operation, {})
    if (typeof body !== "string" || !body.includes(EXAMPLE_INPUT)) return {}
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
  if (operation.errors?.includes("no_log")) await keepLog(member.id)
  if (operation.errors?.includes("not_final")) {
    const end = OPERATIONS.find(
      ({ path, errors }) => path.startsWith(collection) && errors?.includes("already_final"),
    )
    if (end) await sendExample(end, parameters, { "x-api-key": caller.key })
  }
  return parameters
}

function lastOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1)
}

async function newestOf(caller: Caller, collection: string) {
  const [member] = members.parse(await (await caller.call(collection)).json())
  if (!member) throw new Error(`${collection} has no members`)
  return member
}
