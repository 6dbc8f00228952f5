import { readFileSync } from "node:fs"

/**
 * Documentation of an error code. `field`, `option` and `retryAfterSeconds` are values in the
 * example response that the documentation shows.
 */
export type ErrorCodeExplanation = {
  title: string
  means: string
  remedy: string
  message: string
  field: string | undefined
  option: string | undefined
  retryAfterSeconds: number | undefined
}

/** Documentation of error codes, by code. */
export type ErrorCodeExplanations = ReadonlyMap<string, ErrorCodeExplanation>

/**
 * Reads the documentation of the codes of error responses, of failed jobs, and of details of a 422.
 */
export function readErrorExplanations() {
  return {
    answers: readSections("docs/errors/answers.md"),
    failures: readSections("docs/errors/failures.md"),
    details: readSections("docs/errors/details.md"),
  }
}

/**
 * Reads a page of docs/errors. Each heading is an error code, and the section documents the code.
 */
function readSections(path: string): ErrorCodeExplanations {
  const [, ...sections] = readFileSync(path, "utf8").split(/^## /m)
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
