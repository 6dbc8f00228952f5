import { z } from "zod"
import { Complaint } from "../local/complaint.ts"

const ANSWER_WITHIN_MS = 60_000
const PUBLIC_API = "https://api.cloudflare.com/client/v4"

/** Cloudflare's codes for a Worker, a bucket and a workers.dev name that are not there. */
const NOT_FOUND_CODES = [10_006, 10_007]

/** Cloudflare's API as one account's credentials see it. */
export type Cloudflare = { accountId: string; headers: Record<string, string> }

export type Answer =
  | { isOk: true; result: unknown }
  | { isOk: false; status: number; code: number | null; message: string }

const envelope = z.object({
  success: z.boolean(),
  result: z.unknown(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).nullish(),
})

/** Asks for a path below the account; a refusal is an answer, silence is a Complaint. */
export async function call(
  api: Cloudflare,
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const base = process.env["CLOUDFLARE_API_BASE_URL"] ?? PUBLIC_API
  const response = await send(`${base}/accounts/${api.accountId}${path}`, {
    method,
    headers: { ...api.headers, "content-type": "application/json" },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
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

/** The result of a call, read by a schema; throws a Complaint with Cloudflare's words otherwise. */
export async function demand<T>(
  api: Cloudflare,
  schema: z.ZodType<T>,
  request: { method?: "GET" | "POST" | "PUT"; path: string; body?: unknown },
): Promise<T> {
  const { method = "GET", path, body } = request
  const answer = await call(api, method, path, body)
  if (!answer.isOk) throw refused(method, path, answer)
  return read(schema, answer.result, path)
}

/** As `demand` for a GET; null where Cloudflare says that there is no such thing. */
export async function find<T>(
  api: Cloudflare,
  schema: z.ZodType<T>,
  path: string,
): Promise<T | null> {
  const answer = await call(api, "GET", path)
  if (answer.isOk) return read(schema, answer.result, path)
  if (NOT_FOUND_CODES.includes(answer.code ?? 0)) return null
  throw refused("GET", path, answer)
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const { host } = new URL(url)
    throw new Complaint(`Cloudflare's API does not answer at ${host}.`, { cause: error })
  }
}

function read<T>(schema: z.ZodType<T>, result: unknown, path: string): T {
  const parsed = schema.safeParse(result)
  if (parsed.success) return parsed.data
  throw new Complaint(`Cloudflare's answer to ${path} is not what it was when this was written.`, {
    cause: parsed.error,
  })
}

function refused(method: string, path: string, answer: Answer & { isOk: false }): Complaint {
  const code = answer.code === null ? "" : ` [code: ${answer.code}]`
  return new Complaint(`Cloudflare refused ${method} ${path}: ${answer.message}${code}`)
}
