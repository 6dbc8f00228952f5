import type { DocumentedServiceData } from "./service-facts.ts"
import { readErrorExplanations } from "./error-explanations.ts"
import type { ErrorCodeExplanation, ErrorCodeExplanations } from "./error-explanations.ts"
import type { SitePage } from "./page.ts"
import { makeMarkdownTable } from "./table.ts"

/**
 * Meaning of an error code where it is used: in an error response, in `details` of a 422, or in a
 * failed job.
 */
type Meaning = ErrorCodeExplanation & { where: string; example: unknown }

const FAILURE =
  "`error_code` of a failed job or File, and `error.code` of its Job; also in `details` of a 422 if the create finds the fault."

const DETAIL = "Code in `details` of an answer with the status 422."

/** Makes the page of each error code of the service, and the list of all codes. */
export async function makeErrorPages(facts: DocumentedServiceData): Promise<SitePage[]> {
  const explanations = readErrorExplanations()
  const codes = new Set([...Object.keys(facts.answers), ...facts.failures, ...facts.details])
  const pages = [...codes].map(async (code) => {
    const meanings = await findMeanings(code, facts, explanations)
    return { path: `errors/${code}`, markdown: describeCode(code, meanings), source: null }
  })
  return [makeList(facts, explanations), ...(await Promise.all(pages))]
}

async function findMeanings(
  code: string,
  facts: DocumentedServiceData,
  explanations: ReturnType<typeof readErrorExplanations>,
): Promise<Meaning[]> {
  const meanings: Meaning[] = []
  const answer = facts.answers[code]
  const ofAnswer = explanations.answers.get(code)
  if (answer && ofAnswer) {
    meanings.push({
      ...ofAnswer,
      title: answer.title,
      where: `Code of an answer with the status ${answer.status}.`,
      example: await facts.makeExampleErrorBody(code, ofAnswer),
    })
  }
  const ofFailure = explanations.failures.get(code)
  if (facts.failures.includes(code) && ofFailure) {
    const example = await facts.makeExampleFailedJob(code, ofFailure)
    meanings.push({ ...ofFailure, where: FAILURE, example })
  }
  const ofDetail = explanations.details.get(code)
  if (facts.details.includes(code) && ofDetail) {
    const example = await facts.makeExampleFaultBody(code, ofDetail)
    meanings.push({ ...ofDetail, where: DETAIL, example })
  }
  return meanings
}

function describeCode(code: string, meanings: Meaning[]): string {
  const isSeveral = meanings.length > 1
  const sections = meanings.map(({ where, means, remedy, example }, at) => {
    const suffix = isSeveral ? ` ${at === 0 ? "of the answer" : "of the failed job"}` : ""
    return `${where}

## Meaning${suffix}

${means}

## Remedy${suffix}

${remedy}

## Example${suffix}

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\``
  })
  // Makes a page for a code without documentation too, because a single code must not fail the
  // build. A test finds such codes.
  const lead = meanings[0] ? `${meanings[0].title}.` : "The message of the error explains it."
  return [`# \`${code}\``, lead, ...sections, "[All error codes](/docs/errors/)\n"].join("\n\n")
}

function makeList(
  { answers }: DocumentedServiceData,
  { failures, details }: ReturnType<typeof readErrorExplanations>,
): SitePage {
  const markdown = `# Error codes

All codes of error answers, failed jobs and details of a 422. [Errors](/docs/guide/errors) tells how an error is built.

## Answers

${makeMarkdownTable(
  ["code", "status", "meaning"],
  Object.entries(answers).map(([code, { status, title }]) => [linkOf(code), `${status}`, title]),
)}

## Failed jobs and Files

${listTitles(failures)}

## Details of a 422

${listTitles(details)}
`
  return { path: "errors/index", markdown, source: null }
}

function listTitles(docs: ErrorCodeExplanations): string {
  const rows = [...docs].map(([code, { title }]) => [linkOf(code), title])
  return makeMarkdownTable(["code", "meaning"], rows)
}

function linkOf(code: string): string {
  return `[\`${code}\`](/docs/errors/${code})`
}
