import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"
import { describeNeededCloudflareRight } from "./rights.ts"

const ANSWER_WITHIN_MS = 60_000
const PUBLIC_API = "https://api.cloudflare.com/client/v4"

/**
 * Cloudflare's error codes for a resource that does not exist: an R2 bucket, a Worker or
 * workers.dev name, and a D1 database.
 */
const NOT_FOUND_CODES = [10_006, 10_007, 7404]

/** Cloudflare account, and the headers that authenticate requests to Cloudflare's API. */
export type CloudflareAccount = { accountId: string; headers: Record<string, string> }

/** HTTP statuses with which Cloudflare refuses credentials or lacking permissions. */
const REFUSED_CREDENTIALS = [401, 403]

export type CloudflareApiResult =
  | { isOk: true; result: unknown }
  | { isOk: false; status: number; code: number | null; message: string }

const envelope = z.object({
  success: z.boolean(),
  result: z.unknown(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).nullish(),
})

/**
 * Requests a path below the account in Cloudflare's API, with a form or a JSON body. Returns error
 * responses too. Throws a CliError if Cloudflare does not respond.
 */
export async function callCloudflare(
  api: CloudflareAccount,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): Promise<CloudflareApiResult> {
  const base = process.env["CLOUDFLARE_API_BASE_URL"] ?? PUBLIC_API
  const response = await send(`${base}/accounts/${api.accountId}${path}`, {
    method,
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body instanceof FormData
      ? { headers: api.headers, body }
      : {
          headers: { ...api.headers, "content-type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
  })
  const { data } = envelope.safeParse(await response.json().catch(() => null))
  if (data?.success && response.ok) return { isOk: true, result: data.result }
  const [first] = data?.errors ?? []
  return {
    isOk: false,
    status: response.status,
    code: first?.code ?? null,
    message: first?.message ?? `status ${response.status}`,
  }
}

/**
 * Requests a path of Cloudflare's API, and parses the result. Throws a CliError with Cloudflare's
 * message for an error response.
 */
export async function callCloudflareOrThrow<T>(
  api: CloudflareAccount,
  schema: z.ZodType<T>,
  request: { method?: "GET" | "POST" | "PUT" | "DELETE"; path: string; body?: unknown },
): Promise<T> {
  const { method = "GET", path, body } = request
  const answer = await callCloudflare(api, method, path, body)
  if (!answer.isOk) throw makeCloudflareApiError(method, path, answer)
  return read(schema, answer.result, path)
}

/**
 * Requests a resource of Cloudflare's API by GET, and parses the resource. Returns null if the
 * resource does not exist. Throws a CliError for another error response.
 */
export async function findCloudflareResource<T>(
  api: CloudflareAccount,
  schema: z.ZodType<T>,
  path: string,
): Promise<T | null> {
  const answer = await callCloudflare(api, "GET", path)
  if (answer.isOk) return read(schema, answer.result, path)
  if (NOT_FOUND_CODES.includes(answer.code ?? 0)) return null
  throw makeCloudflareApiError("GET", path, answer)
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const { host } = new URL(url)
    throw new CliError(`Cloudflare's API does not respond at ${host}.`, { cause: error })
  }
}

function read<T>(schema: z.ZodType<T>, result: unknown, path: string): T {
  const parsed = schema.safeParse(result)
  if (parsed.success) return parsed.data
  throw new CliError(`Cloudflare's response to ${path} has an unknown format.`, {
    cause: parsed.error,
  })
}

/**
 * Returns an error with Cloudflare's message, and with the permission that the credentials may
 * lack.
 */
export function makeCloudflareApiError(
  method: string,
  path: string,
  answer: CloudflareApiResult & { isOk: false },
): CliError {
  const code = answer.code === null ? "" : ` [code: ${answer.code}]`
  const rights = REFUSED_CREDENTIALS.includes(answer.status)
    ? `.${describeNeededCloudflareRight(path)}`
    : ""
  return new CliError(`Cloudflare refused ${method} ${path}: ${answer.message}${code}${rights}`)
}
