import { cutText } from "./cut-text.ts"

/** What a text is that was never meant to be JSON, and what to send; null where it may be broken JSON. */
export function describeOtherFormat(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed === "") return "the body is empty"
  if (text.startsWith("\u001F") || text.startsWith("PK\u0003"))
    return "the body is compressed: send it as it is"
  if (text.includes("\u0000")) return "the body is no UTF-8: save it as UTF-8"
  if (/^@\S+$/.test(trimmed)) {
    return `the body is the name of a file: curl reads it with \`--data-binary ${cutText(trimmed, 60)}\`, and not with \`--data-raw\``
  }
  if (trimmed.startsWith("[object ")) {
    return "the body is an object as a program shows it: send `JSON.stringify(body)`"
  }
  if (/^<[!?a-z]/i.test(trimmed)) return "the body is HTML or XML"
  if (trimmed.startsWith("--") && /content-disposition/i.test(trimmed)) {
    return "the body is a form: send it as multipart/form-data, with the header that your client makes for it"
  }
  if (/^[\w.[\]-]+=/.test(trimmed)) {
    return `the body is a form: write \`{"${/^[\w.-]+/.exec(trimmed)?.[0] ?? "name"}": …}\``
  }
  if (/^%7B/i.test(trimmed)) return "the body is encoded as in a URL: send it as it is"
  const name = /^([\w-]+):\s/.exec(trimmed)?.[1]
  return name === undefined ? null : `the body is YAML: write \`{"${name}": …}\``
}
