import answers from "../../../docs/errors/answers.md"
import details from "../../../docs/errors/details.md"
import failures from "../../../docs/errors/failures.md"

/** The explanation of a code, and the field, the option and the wait of its example where it has them. */
export type Explained = {
  title: string
  means: string
  remedy: string
  message: string
  field: string | undefined
  option: string | undefined
  retryAfterSeconds: number | undefined
}

/** Explanations by code. */
export type ErrorDocs = ReadonlyMap<string, Explained>

/** Codes of answers: their titles are those of PROBLEMS. */
export const ANSWERS = readSections(answers)
/** Codes that jobs and Files fail with. */
export const FAILURES = readSections(failures)
/** Codes of `details` that no job fails with. */
export const DETAILS = readSections(details)

/** The explanation of a code; throws where the page lacks it. */
export function explainCode(docs: ErrorDocs, code: string): Explained {
  const explained = docs.get(code)
  if (explained === undefined) throw new Error(`docs/errors has no section for ${code}`)
  return explained
}

/** The sections of a page of docs/errors, whose headings are codes. */
function readSections(page: string): ErrorDocs {
  const [, ...sections] = page.split(/^## /m)
  return new Map(
    sections.map((section) => {
      const [code = "", about = "", remedy = "", ...rest] = section.trim().split(/\n\n+/)
      const [, title = "", means = ""] = /^(?:\*\*(.+?)\.\*\*\s)?(.*)$/s.exec(about) ?? []
      const facts = new Map(
        Array.from(section.matchAll(/^- (\w+): `(.*)`$/gm), ([, name = "", value = ""]) => [
          name,
          value,
        ]),
      )
      const wait = facts.get("retry_after_seconds")
      const explained = {
        title,
        means: oneLine(means),
        remedy: oneLine(remedy),
        message: oneLine((rest.at(-1) ?? "").replace(/^> ?/gm, "")),
        field: facts.get("field"),
        option: facts.get("option"),
        retryAfterSeconds: wait === undefined ? undefined : Number(wait),
      }
      return [code, explained]
    }),
  )
}

function oneLine(paragraph: string): string {
  return paragraph.replace(/\s+/g, " ").trim()
}
