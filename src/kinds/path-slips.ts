/** Ends of names that are those of hosts, and of no files. */
const TOP_LEVEL = /\.(?:com|org|net|io|dev|app|co|tv|ai|me|edu|gov|info|site|cloud|example)$/i
const HOST = String.raw`(?:[\w-]+\.)+[a-z][a-z0-9-]+|localhost|\d{1,3}(?:\.\d{1,3}){3}`
const HOST_FIRST = new RegExp(String.raw`^(?:${HOST})(?::\d+)?(?=[/?#]|$)`, "i")

/**
 * The URL that a text without a scheme was likely meant as; null where it reads as a file's name or path.
 * `use` is what it is for: nobody calls a file.
 */
export function isUrlWithoutScheme(text: string, use: string): string | null {
  const bare = text.replace(/^:?\/\//, "")
  const host = HOST_FIRST.exec(bare)?.[0]
  if (host === undefined) return null
  const isWhole = host === bare
  const isLocal = /^(?:localhost|\d)/i.test(host)
  const isSure = isLocal || /^www\./i.test(host) || bare !== text || use === "webhook"
  if (isWhole && !isSure && !TOP_LEVEL.test(host)) return null
  return `${isLocal ? "http" : "https"}://${bare}`
}

/** Whether a text reads as a path or a name of a file. */
export function isPath(text: string): boolean {
  if (/^(?:file:|@|~|\.{0,2}[/\\]|[a-z]:[/\\])/i.test(text)) return true
  return !/:|\w@\w/.test(text) && (/\.\w{1,5}$/.test(text) || /[/\\]/.test(text))
}
