import { z } from "zod"
import { CliError } from "../local/cli-error.ts"
import { rightsFor } from "./rights.ts"

const ANSWER_WITHIN_MS = 60_000
const PUBLIC_API = "https://api.cloudflare.com/client/v4"

/** Cloudflare's error codes for a bucket, a Worker or a workers.dev name, and a database that does not exist. */
const NOT_FOUND_CODES = [10_006, 10_007, 7404]

/** An account at Cloudflare's API and the headers with its credentials. */
export type Cloudflare = { accountId: string; headers: Record<string, string> }

/** Statuses by which Cloudflare refuses what credentials may not do. */
const REFUSED_CREDENTIALS = [401, 403]

export type ApiResult =
  | { isOk: true; result: unknown }
  | { isOk: false; status: number; code: number | null; message: string }

const envelope = z.object({
  success: z.boolean(),
  result: z.unknown(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).nullish(),
})

/**
 * Requests a path of the account, with a form or a JSON body; returns error answers too, throws a CliError
 * without one.
 */
export async function call(
  api: Cloudflare,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): Promise<ApiResult> {
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

/** The result of a call, parsed; throws a CliError with Cloudflare's message otherwise. */
export async function callOrThrow<T>(
  api: Cloudflare,
  schema: z.ZodType<T>,
  request: { method?: "GET" | "POST" | "PUT" | "DELETE"; path: string; body?: unknown },
): Promise<T> {
  const { method = "GET", path, body } = request
  const answer = await call(api, method, path, body)
  if (!answer.isOk) throw refusalOf(method, path, answer)
  return read(schema, answer.result, path)
}

/** As `callOrThrow` for a GET; null where the resource does not exist. */
export async function find<T>(
  api: Cloudflare,
  schema: z.ZodType<T>,
  path: string,
): Promise<T | null> {
  const answer = await call(api, "GET", path)
  if (answer.isOk) return read(schema, answer.result, path)
  if (NOT_FOUND_CODES.includes(answer.code ?? 0)) return null
  throw refusalOf("GET", path, answer)
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const { host } = new URL(url)
    throw new CliError(`Cloudflare's API does not answer at ${host}.`, { cause: error })
  }
}

function read<T>(schema: z.ZodType<T>, result: unknown, path: string): T {
  const parsed = schema.safeParse(result)
  if (parsed.success) return parsed.data
  throw new CliError(`Cloudflare's answer to ${path} is not what it was when this was written.`, {
    cause: parsed.error,
  })
}

/** A CliError with Cloudflare's message, and the right that the credentials lack. */
export function refusalOf(
  method: string,
  path: string,
  answer: ApiResult & { isOk: false },
): CliError {
  const code = answer.code === null ? "" : ` [code: ${answer.code}]`
  const rights = REFUSED_CREDENTIALS.includes(answer.status) ? `.${rightsFor(path)}` : ""
  return new CliError(`Cloudflare refused ${method} ${path}: ${answer.message}${code}${rights}`)
}
