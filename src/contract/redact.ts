// What no log may have. Patterns know what the service itself gives out, and what callers put into
// addresses; secrets of the operator's own, which may look like anything, are told by their values.

const HIDDEN = "[redacted]"
/** Shorter values are words that occur everywhere. */
const SECRET_CHARACTERS_MIN = 8

/** Facts that are hidden whatever they are, by their names. */
const SECRET_NAME =
  /(?:^|_)(?:authorization|cookies?|password|secret|token|api_?key|access_key(?:_id)?)$/i

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Of an address the host alone is told: users put secrets into its user, its path and its query.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi, "$1"],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/?#"'<>\\]+)[/?#][^\s"'<>\\]+/gi, "$1/…"],
  [/\blathe_[0-9A-Za-z]{3,}/g, `lathe_${HIDDEN}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${HIDDEN}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/(\/(?:media|reset-password|verify-email|invitations?)\/)[^\s"']+/g, `$1${HIDDEN}`],
  [/([?&][\w.~%-]+=)[^&\s"']+/g, `$1${HIDDEN}`],
  [/((?:^|[\s"'{,;])(?:set-)?cookie["']?\s*[:=]).*/gim, `$1 ${HIDDEN}`],
  [/([\w.-]*(?:session|csrf|password|secret|token)[\w.-]*=)[^\s;,&"']+/gi, `$1${HIDDEN}`],
  [/("[\w-]*(?:session|csrf|password|secret|token)"\s*:\s*")[^"]+/gi, `$1${HIDDEN}`],
  // A line of a cookies.txt.
  [/\t(?:TRUE|FALSE)\t[^\t\n]*\t(?:TRUE|FALSE)\t\d+\t[^\t\n]*\t[^\n]*/g, `\t${HIDDEN}`],
]

/** What no pattern finds anything in: ids, words, numbers and times, as most facts are. */
const PLAIN = /^[a-z0-9.-]*$/

/** Runs of characters as long as keys and signatures; ids and hashes are none of either. */
const LONG_RUN = /[\w-]{20,}/g

const secrets = new Set<string>()

/** Hides these values, too, from everything that this process redacts from now on. */
export function hideSecrets(values: Iterable<string | undefined>): void {
  for (const value of values) {
    if (value === undefined || value.length < SECRET_CHARACTERS_MIN) continue
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
      secrets.add(form)
    }
  }
}

const LIST_NAME = /secret|key|token|password/i

/** The secrets of a setting that holds more than one: JSON, a cookies.txt or the URL of a proxy. */
export function secretsInside(setting: string | undefined): string[] {
  if (setting === undefined) return []
  const cookies = setting.split("\n").flatMap((line) => line.trimEnd().split("\t")[6] ?? [])
  const url = URL.parse(setting)
  const users = url ? [url.password, decodeURIComponent(url.password)] : []
  return [...cookies, ...users, ...secretsOfJson(setting)]
}

function secretsOfJson(text: string): string[] {
  const found: string[] = []
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === "string" && LIST_NAME.test(name)) found.push(value)
    })
  } catch {
    // A setting in another form.
  }
  return found
}

/** A text without secrets: keys, tokens, cookies, and what of addresses may be secret. */
export function redactText(text: string): string {
  let redacted = text
  if (text.length >= SECRET_CHARACTERS_MIN) {
    for (const secret of secrets) redacted = redacted.replaceAll(secret, HIDDEN)
  }
  if (PLAIN.test(redacted)) return redacted
  for (const [pattern, replacement] of PATTERNS) redacted = redacted.replace(pattern, replacement)
  return redacted.replace(LONG_RUN, (run) => (isSecretRun(run) ? HIDDEN : run))
}

/** The value of a fact without secrets; what its name says is one is hidden as a whole. */
export function redactFact(name: string, value: unknown): unknown {
  if (typeof value === "string") return SECRET_NAME.test(name) ? HIDDEN : redactText(value)
  if (value instanceof Error) return redactText(value.stack ?? String(value))
  return typeof value === "bigint" ? String(value) : value
}

/** Whether a run of characters is random: letters of both cases and digits change all the time. */
function isSecretRun(run: string): boolean {
  const changes = run.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && changes * 5 >= run.length
}
