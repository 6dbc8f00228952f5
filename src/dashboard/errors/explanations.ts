import answers from "../../../docs/errors/answers.md"
import details from "../../../docs/errors/details.md"
import failures from "../../../docs/errors/failures.md"

/**
 * Documentation of an error code. `field`, `option` and `retryAfterSeconds` are values of the
 * code's example.
 */
export type CodeExplanation = {
  title: string
  means: string
  remedy: string
  message: string
  field: string | undefined
  option: string | undefined
  retryAfterSeconds: number | undefined
}

/** Documentation of error codes, by code. */
export type CodeExplanations = ReadonlyMap<string, CodeExplanation>

/** Documentation of the codes of error responses. PROBLEMS has their titles. */
export const PROBLEM_EXPLANATIONS = readSections(answers)
/** Documentation of the failure codes of jobs and Files. */
export const FAILURE_EXPLANATIONS = readSections(failures)
/**
 * Documentation of the codes that occur only in `details` of a 422 response, not as a failure code
 * of a job.
 */
export const FAULT_CODE_EXPLANATIONS = readSections(details)

/** Returns the documentation of a code. Throws if docs/errors has no section for the code. */
export function getCodeExplanation(docs: CodeExplanations, code: string): CodeExplanation {
  const explained = docs.get(code)
  if (explained === undefined) throw new Error(`docs/errors has no section for ${code}`)
  return explained
}

/** Parses a page of docs/errors into its sections, whose headings are codes. */
function readSections(page: string): CodeExplanations {
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
