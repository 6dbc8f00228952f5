/** Cloudflare's names of the rights of a token, each to edit, and the paths of an account that need them. */
const RIGHTS = [
  ["Workers Scripts", /^\/workers\//],
  ["D1", /^\/d1\//],
  ["Workers R2 Storage", /^\/r2\//],
  ["Queues", /^\/queues\b/],
  ["Containers", /^\/containers\//],
] as const

/** The path in wrangler's message, and one of Cloudflare's codes for credentials that may not do something. */
const REFUSED_BY_WRANGLER =
  /\/accounts\/[^/\s]+(\/[^\s)]+)\) failed[\s\S]*\[code: (?:10000|9109|1000)\]/

/** A sentence on the right that a path below an account needs; empty where it is not known. */
export function rightsFor(path: string): string {
  const right = RIGHTS.find(([, paths]) => paths.test(path))
  if (!right) return ""
  return ` A token needs the right to edit ${right[0]} for that; docs/operate/deploy.md lists all rights.`
}

/** The same for a refusal among wrangler's output. */
export function rightsForOutput(output: string): string {
  const path = REFUSED_BY_WRANGLER.exec(output)?.[1]
  return path === undefined ? "" : `\n${rightsFor(path).trim()}`
}
