import { z } from "zod"

/** An origin of an app that is no web page, such as `capacitor://localhost`. */
const ORIGIN_OF_APP = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:_-]+$/

/** Origins as browsers send them, by commas; `*` is every one. An issue says how a wrong one is written. */
export const corsOrigins = z
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
    return `"${text}" is no origin: put a comma between two, as in ${parts.join(",")}`
  }
  if (text.includes("*")) {
    return `"${text}" is no origin, since \`*\` is no part of one: name each, by commas, or \`*\` alone for all`
  }
  const url = URL.parse(text)
  const isWeb = /^https?:$/.test(url?.protocol ?? "")
  if (!url || (!isWeb && !ORIGIN_OF_APP.test(text))) {
    return `"${text}" is no origin such as https://app.example.com, and no *${withScheme(text)}`
  }
  if (!isWeb || url.origin === text) return null
  return `"${text}" is not an origin as browsers send it: write ${url.origin}`
}

function withScheme(text: string): string {
  const host = /^(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::\d+)?(?=\/|$)/.exec(text)?.[0]
  if (host === undefined) return ""
  return `: write ${/^(?:localhost|[\d.]+(?::|$))/.test(host) ? "http" : "https"}://${host}`
}
