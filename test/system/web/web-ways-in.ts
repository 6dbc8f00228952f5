import { z } from "zod"

/** How a request that names a URL ended. */
export type WebEnd = {
  /** Status of the answer to the create or to the lookup. */
  status: number
  /**
   * Of a refusal, a record that failed, or a lookup that found nothing; null where it went well.
   */
  code: string | null
  /** All that was answered, to look for what may not be in it. */
  text: string
}

/** The ways by which a URL comes into a service; each gives one and waits for the end. */
export type WaysIn = Record<WayIn, (url: string) => Promise<WebEnd>>

export const WAYS_IN = ["fetch", "metadata", "longMetadata", "file", "command"] as const
export type WayIn = (typeof WAYS_IN)[number]

const FINAL = new Set(["success", "failed"])
const WAIT = { prefer: "wait=30" }
const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  error_code: z.string().nullish(),
})
const refusal = z.object({
  code_name: z.string(),
  details: z.array(z.object({ code: z.string() })).optional(),
})

/** The ways into a service with one of its keys. */
export function openWaysIn(origin: string, key: string): WaysIn {
  async function call(path: string, init: { method?: string; body?: unknown } = {}) {
    const { method = "GET", body } = init
    const answer = await fetch(`${origin}/v1${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json", ...WAIT },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  async function create(path: string, body: unknown): Promise<WebEnd> {
    const answer = await call(path, { method: "POST", body })
    if (answer.status >= 300) return { ...answer, code: refusalCode(answer.text) }
    const { status } = answer
    let { text } = answer
    for (;;) {
      const found = record.parse(JSON.parse(text))
      if (FINAL.has(found.status)) return { status, code: found.error_code ?? null, text }
      text = (await call(`${path}/${found.id}`)).text
    }
  }
  async function lookUp(path: string, init?: { method: string; body: unknown }): Promise<WebEnd> {
    const answer = await call(path, init)
    return { ...answer, code: answer.status < 300 ? null : refusalCode(answer.text) }
  }
  return {
    // Subtitles too, since they come from addresses of their own.
    fetch: async (url) => await create("/fetch", { url, subtitles: ["en"] }),
    metadata: async (url) =>
      await lookUp(`/fetch/metadata?${new URLSearchParams({ url }).toString()}`),
    longMetadata: async (url) => await lookUp("/fetch/metadata", { method: "POST", body: { url } }),
    file: async (url) => await create("/files", { file_url: url }),
    command: async (url) =>
      await create("/commands", {
        ffmpeg_command: "ffmpeg -i in_1 -c copy out_1",
        input_files: { in_1: url },
        output_files: { out_1: "out.mkv" },
      }),
  }
}

/** The code of a refusal: of its first fault where it has some. */
function refusalCode(text: string): string {
  const { code_name, details = [] } = refusal.parse(JSON.parse(text))
  return details[0]?.code ?? code_name
}
