// Redaction of secrets in logs. Patterns find the secrets that the service issues and those that
// callers put into URLs. The operator's own secrets can have any form, so they are hidden by value.

const HIDDEN = "[redacted]"
/** Minimum length of a secret: shorter values are words that occur everywhere. */
const SECRET_CHARACTERS_MIN = 8

/** Names of log fields whose values are always hidden. */
const SECRET_NAME =
  /(?:^|_)(?:authorization|cookies?|password|secret|token|api_?key|access_key(?:_id)?)$/i

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Keeps only the host of a URL: users put secrets into its user info, path and query.
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
  // Line of a cookies.txt.
  [/\t(?:TRUE|FALSE)\t[^\t\n]*\t(?:TRUE|FALSE)\t\d+\t[^\t\n]*\t[^\n]*/g, `\t${HIDDEN}`],
]

/** Text that cannot contain a secret, as most log fields: ids, words, numbers and times. */
const PLAIN = /^[a-z0-9.-]*$/

/** Sequences of characters that are as long as keys and signatures. */
const LONG_RUN = /[\w-]{20,}/g

const secrets = new Set<string>()

/** Adds secrets to those that this process redacts in all texts from now on. */
export function registerSecrets(values: Iterable<string | undefined>): void {
  for (const value of values) {
    if (value === undefined || value.length < SECRET_CHARACTERS_MIN) continue
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
      secrets.add(form)
    }
  }
}

const LIST_NAME = /secret|key|token|password/i

/** Returns the secrets in a setting whose value is JSON, a cookies.txt or the URL of a proxy. */
export function extractSecrets(setting: string | undefined): string[] {
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
    // The setting is not JSON.
  }
  return found
}

/** Removes secrets from a text: keys, tokens, cookies, and the parts of URLs that may be secret. */
export function redactText(text: string): string {
  let result = text
  if (text.length >= SECRET_CHARACTERS_MIN) {
    for (const secret of secrets) result = result.replaceAll(secret, HIDDEN)
  }
  if (PLAIN.test(result)) return result
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement)
  return result.replace(LONG_RUN, (run) => (isSecretRun(run) ? HIDDEN : run))
}

/** Redacts the value of a log field; hides the whole value if the field has a secret's name. */
export function redactField(name: string, value: unknown): unknown {
  if (typeof value === "string") return SECRET_NAME.test(name) ? HIDDEN : redactText(value)
  if (value instanceof Error) return redactText(value.stack ?? String(value))
  return typeof value === "bigint" ? String(value) : value
}

/**
 * Reports whether a sequence of characters looks random: lower case, upper case and digits
 * alternate often.
 */
function isSecretRun(run: string): boolean {
  const changes = run.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && changes * 5 >= run.length
}
