import { z } from "zod"

/** Pattern of the origin of a native app, such as `capacitor://localhost`. */
const ORIGIN_OF_APP = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:_-]+$/

/**
 * Schema of the setting CORS_ORIGINS: origins as browsers send them, separated by commas; `*`
 * allows every origin. The message about an invalid origin proposes the correct spelling.
 */
export const corsOriginsSchema = z
  .string()
  .default("")
  .transform((text, context) => {
    const origins = text.split(",").flatMap((part) => part.trim() || [])
    for (const origin of origins) {
      const message = judgeOrigin(origin)
      if (message !== null) context.addIssue({ code: "custom", message })
    }
    return origins
  })

function judgeOrigin(text: string): string | null {
  if (text === "*") return null
  const parts = text.split(/[\s;|]+/).filter((part) => part !== "")
  if (parts.length > 1 || parts[0] !== text) {
    return `"${text}" is not an origin: separate origins by commas, as in ${parts.join(",")}`
  }
  if (text.includes("*")) {
    return `"${text}" is not an origin, because \`*\` cannot be a part: list each origin, or set \`*\` alone for all`
  }
  const url = URL.parse(text)
  const isWeb = /^https?:$/.test(url?.protocol ?? "")
  if (!url || (!isWeb && !ORIGIN_OF_APP.test(text))) {
    return `"${text}" is not an origin: expected one such as https://app.example.com, or *${withScheme(text)}`
  }
  if (!isWeb || url.origin === text) return null
  return `"${text}" is not in the form that browsers send: write ${url.origin}`
}

function withScheme(text: string): string {
  const host = /^(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::\d+)?(?=\/|$)/.exec(text)?.[0]
  if (host === undefined) return ""
  return `: write ${/^(?:localhost|[\d.]+(?::|$))/.test(host) ? "http" : "https"}://${host}`
}
