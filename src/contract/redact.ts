// Redaction of secrets in logs. Patterns find the secrets that the service issues and the secrets
// that callers put into URLs. The operator's own secrets can have any form, so each of them is
// registered and hidden wherever its text occurs.

const HIDDEN = "[redacted]"
/**
 * Minimum length of a secret, in characters. A shorter value may be an ordinary word and is not
 * redacted.
 */
const SECRET_CHARACTERS_MIN = 8

/** Names of log fields whose values are always hidden. */
const SECRET_NAME =
  /(?:^|_)(?:authorization|cookies?|password|secret|token|api_?key|access_key(?:_id)?)$/i

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Keeps only the host of a URL, since users put secrets into the user info, the path and the
  // query of URLs.
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
  // Matches a line of a cookies.txt.
  [/\t(?:TRUE|FALSE)\t[^\t\n]*\t(?:TRUE|FALSE)\t\d+\t[^\t\n]*\t[^\n]*/g, `\t${HIDDEN}`],
]

/**
 * Matches texts that cannot contain a secret, such as ids, words, numbers and times. Most log
 * fields match.
 */
const PLAIN = /^[a-z0-9.-]*$/

/** Matches sequences of characters that are as long as API keys and signatures. */
const LONG_RUN = /[\w-]{20,}/g

const secrets = new Set<string>()

/** Registers secrets. Every later redaction in this Worker or runner process hides them. */
export function registerSecrets(values: Iterable<string | undefined>): void {
  for (const value of values) {
    if (value === undefined || value.length < SECRET_CHARACTERS_MIN) continue
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
      secrets.add(form)
    }
  }
}

const LIST_NAME = /secret|key|token|password/i

/**
 * Returns the secrets in the value of a setting: JSON, the text of a cookies.txt, or the URL of a
 * proxy.
 */
export function extractSecretsFromSetting(setting: string | undefined): string[] {
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
    // The setting is not JSON, so only its cookies and URL passwords count as secrets.
  }
  return found
}

/**
 * Replaces secrets in a text: API keys, tokens, cookies, and the parts of URLs that may be secret.
 */
export function redactText(text: string): string {
  let result = text
  if (text.length >= SECRET_CHARACTERS_MIN) {
    for (const secret of secrets) result = result.replaceAll(secret, HIDDEN)
  }
  if (PLAIN.test(result)) return result
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement)
  return result.replace(LONG_RUN, (run) => (isSecretRun(run) ? HIDDEN : run))
}

/**
 * Redacts the value of a log field. Hides the whole value if the field's name, such as `password`,
 * stands for a secret.
 */
export function redactLogField(name: string, value: unknown): unknown {
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
