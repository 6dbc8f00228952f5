import { Hono } from "hono"
import type { Child } from "hono/jsx"
import { failureCodeSchema } from "../../contract/failure.ts"
import type { FailureCode } from "../../contract/failure.ts"
import { FAULT_ONLY_CODES } from "../../domain/faults.ts"
import type { FaultCode } from "../../domain/faults.ts"
import { addMethodNotAllowedRoutes } from "../../api/routes/methods.ts"
import { makePageSecurityHeaders } from "../../api/middleware/page-headers.ts"
import {
  isProblemCode,
  Problem,
  problemResponse,
  PROBLEMS,
  invalidFieldsProblem,
} from "../../api/output/problem.ts"
import type { ProblemCode } from "../../api/output/problem.ts"
import type { AppEnv } from "../../api/context.ts"
import { didYouMean } from "../../hints/nearest-name.ts"
import { Card } from "../components/card.tsx"
import { Table } from "../components/table.tsx"
import { BrandLink, HtmlDocument } from "../layout.tsx"
import {
  PROBLEM_EXPLANATIONS,
  FAULT_CODE_EXPLANATIONS,
  getCodeExplanation,
  FAILURE_EXPLANATIONS,
} from "./explanations.ts"
import type { CodeExplanations, CodeExplanation } from "./explanations.ts"
import { EXAMPLE_ID } from "../../platform/ids.ts"
import type { JobRecord } from "../../kinds/job-record.ts"

/** Pages with the meaning and remedy of each error code. */
export const errorPages = new Hono<AppEnv>()

errorPages.use(
  makePageSecurityHeaders({ styleSrc: ["'self'"], imgSrc: ["'self'"], formAction: ["'none'"] }),
)

errorPages.get("/", (c) => c.html(<Index title="Error codes" lead={LEAD} />))

errorPages.get("/:code", async (c) => {
  const code = c.req.param("code")
  const sections = await sectionsOf(code)
  const [first] = sections
  if (first) return await c.html(<CodePage code={code} title={first.title} sections={sections} />)
  const nearest = findMeant(code)
  if (nearest !== null) return c.redirect(`/docs/errors/${nearest}`, 308)
  const near = didYouMean(code, CODES, (name) => name).replace("; did", "Did")
  return await c.html(
    <Index
      title="Unknown error code"
      lead={`${near} The list below has all codes of this service.`.trim()}
    />,
    404,
  )
})

errorPages.get("/:code/", (c) => {
  return c.redirect(`/docs/errors/${encodeURIComponent(c.req.param("code"))}`, 308)
})

addMethodNotAllowedRoutes(errorPages)

const LEAD = "All codes of error answers, failed jobs and details of a 422."

const CODES = [
  ...new Set([
    ...Object.keys(PROBLEMS),
    ...FAILURE_EXPLANATIONS.keys(),
    ...FAULT_CODE_EXPLANATIONS.keys(),
  ]),
]

/** Returns the error code that a differently spelled path means; null if no code matches. */
function findMeant(text: string): string | null {
  const plain = text.toLowerCase().replaceAll("-", "_")
  // The body of a 422 response has `validation_error` as its `error`.
  if (plain === "validation_error") return "unprocessable"
  return CODES.find((code) => code === plain) ?? null
}

/** Meaning of a code at one place in the API, such as an error response or a failed job. */
type Section = CodeExplanation & { where: string; example: object }

/** Returns the meanings of a code at all places where it occurs; none for an unknown code. */
async function sectionsOf(code: string): Promise<Section[]> {
  const sections: Section[] = []
  if (isProblemCode(code)) {
    const { status, title } = PROBLEMS[code]
    const where = `Code of an answer with the status ${status}.`
    sections.push({
      ...getCodeExplanation(PROBLEM_EXPLANATIONS, code),
      title,
      where,
      example: await exampleAnswer(code),
    })
  }
  const failed = failureCodeSchema.safeParse(code).data
  if (failed !== undefined) {
    const where =
      "`error_code` of a failed job or File, and `error.code` of its Job; also in `details` of a 422 if the create finds the fault."
    sections.push({
      ...getCodeExplanation(FAILURE_EXPLANATIONS, failed),
      where,
      example: exampleJob(failed),
    })
  }
  const detail = FAULT_ONLY_CODES.find((each) => each === code)
  if (detail !== undefined) {
    const where = "Code in `details` of an answer with the status 422."
    sections.push({
      ...getCodeExplanation(FAULT_CODE_EXPLANATIONS, detail),
      where,
      example: await exampleRefusal(detail),
    })
  }
  return sections
}

function CodePage(props: { code: string; title: string; sections: Section[] }) {
  const { code, title, sections } = props
  return (
    <Frame title={code}>
      <header>
        <h1>
          <code>{code}</code>
        </h1>
        <p class="lead">{title}.</p>
      </header>
      {sections.map(({ where, means, remedy, example }) => (
        <Card>
          <p class="soft">
            <Prose text={where} />
          </p>
          <h2>Meaning</h2>
          <p>
            <Prose text={means} />
          </p>
          <h2>Remedy</h2>
          <p>
            <Prose text={remedy} />
          </p>
          <h2>Example</h2>
          <pre tabindex={0} role="region" aria-label="Example">
            <code>{JSON.stringify(example, null, 2)}</code>
          </pre>
        </Card>
      ))}
      <p>
        <a href="/docs/errors/">All error codes</a>
      </p>
    </Frame>
  )
}

function Index({ title, lead }: { title: string; lead: string }) {
  const answers = Object.entries(PROBLEMS).map(([code, problem]) => [
    code,
    `${problem.status}`,
    problem.title,
  ])
  return (
    <Frame title={title}>
      <header>
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
      </header>
      <Codes title="Answers" columns={["Code", "Status", "Meaning"]} rows={answers} />
      <Codes title="Failed jobs and Files" rows={titlesOf(FAILURE_EXPLANATIONS)} />
      <Codes title="Details of a 422" rows={titlesOf(FAULT_CODE_EXPLANATIONS)} />
      <p>
        <a href="/docs">The interface</a>
      </p>
    </Frame>
  )
}

function titlesOf(docs: CodeExplanations): string[][] {
  return [...docs].map(([code, { title }]) => [code, title])
}

/** Sentence in which text between backticks is shown as code. */
function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
}

function Codes(props: { title: string; columns?: string[]; rows: string[][] }) {
  const { title, columns = ["Code", "Meaning"], rows } = props
  return (
    <Card title={title}>
      <Table
        caption={title}
        columns={columns}
        rows={rows.map(([code = "", ...cells]) => [
          <a href={`/docs/errors/${code}`}>
            <code>{code}</code>
          </a>,
          ...cells,
        ])}
      />
    </Card>
  )
}

function Frame({ title, children }: { title: string; children: Child }) {
  return (
    <HtmlDocument title={title} scripts={null}>
      <main class="reading">
        <BrandLink />
        {children}
      </main>
    </HtmlDocument>
  )
}

/** Returns an example body of an error response with a code. */
async function exampleAnswer(code: ProblemCode): Promise<object> {
  const { message, retryAfterSeconds } = getCodeExplanation(PROBLEM_EXPLANATIONS, code)
  if (code === "too_complex")
    return await bodyOf(invalidFieldsProblem([{ field: "ffmpeg_command", code, message }]))
  if (code === "unprocessable")
    return await bodyOf(invalidFieldsProblem([{ field: "file_url", message }]))
  const facts = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return await bodyOf(new Problem(code, message, facts))
}

/** Returns an example body of a 422 response with a code in its details. */
async function exampleRefusal(code: FaultCode): Promise<object> {
  const { field = "", option, message } = getCodeExplanation(FAULT_CODE_EXPLANATIONS, code)
  const fault = { field, code, message, ...(option !== undefined && { option }) }
  return await bodyOf(invalidFieldsProblem([fault]))
}

/** Returns an example record of a job that failed with a code. */
function exampleJob(code: FailureCode): JobRecord {
  const { message } = getCodeExplanation(FAILURE_EXPLANATIONS, code)
  return {
    id: EXAMPLE_ID,
    kind: "command",
    status: "failed",
    created_at: "2026-11-22T09:00:00.000Z",
    outputs: [],
    progress: null,
    eta_seconds: null,
    attempts: 1,
    metadata: {},
    warnings: [],
    started_at: "2026-11-22T09:00:01.000Z",
    completed_at: "2026-11-22T09:00:09.000Z",
    error: { code, message },
  }
}

async function bodyOf(problem: Problem): Promise<object> {
  return await problemResponse(problem, { requestId: EXAMPLE_ID, accept: "" }).json()
}
