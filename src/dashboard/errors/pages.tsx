import { Hono } from "hono"
import type { Child } from "hono/jsx"
import { failureCode } from "../../contract/failure.ts"
import { DETAIL_CODES } from "../../faults.ts"
import { guardMethods } from "../../http/methods.ts"
import { pageHeaders } from "../../http/page-headers.ts"
import { isProblemCode, PROBLEMS } from "../../http/problem.ts"
import type { App } from "../../http/request.ts"
import { didYouMean } from "../../hints/nearest-name.ts"
import { Card } from "../components/card.tsx"
import { Table } from "../components/table.tsx"
import { Brand, Document } from "../layout.tsx"
import { exampleAnswer, exampleJob, exampleRefusal } from "./examples.ts"
import { ANSWERS, DETAILS, explainCode, FAILURES } from "./explained.ts"
import type { ErrorDocs, Explained } from "./explained.ts"

/** Pages that say what each code means and what to do, for whoever has met it. */
export const errorPages = new Hono<App>()

errorPages.use(pageHeaders({ styleSrc: ["'self'"], imgSrc: ["'self'"], formAction: ["'none'"] }))

errorPages.get("/", (c) => c.html(<Index title="Error codes" lead={LEAD} />))

errorPages.get("/:code", async (c) => {
  const code = c.req.param("code")
  const sections = await sectionsOf(code)
  const [first] = sections
  if (first) return await c.html(<CodePage code={code} title={first.title} sections={sections} />)
  const meant = findMeant(code)
  if (meant !== null) return c.redirect(`/docs/errors/${meant}`, 308)
  const near = didYouMean(code, CODES, (name) => name).replace("; did", "Did")
  return await c.html(
    <Index
      title="There is no such error code"
      lead={`${near} These are the codes of this service.`.trim()}
    />,
    404,
  )
})

errorPages.get("/:code/", (c) => {
  return c.redirect(`/docs/errors/${encodeURIComponent(c.req.param("code"))}`, 308)
})

guardMethods(errorPages)

const LEAD =
  "Every code that this service answers, ends a job with, or names in the details of a refusal."

const CODES = [...new Set([...Object.keys(PROBLEMS), ...FAILURES.keys(), ...DETAILS.keys()])]

/** The code whose page another address leads to; null where there is none such. */
function findMeant(text: string): string | null {
  const plain = text.toLowerCase().replaceAll("-", "_")
  // The word that `error` is in the body of a 422.
  if (plain === "validation_error") return "unprocessable"
  return CODES.find((code) => code === plain) ?? null
}

/** What a code means in one of the places where it stands. */
type Section = Explained & { where: string; example: object }

/** The sections of a code's page, by the places where it stands; none of what is no code. */
async function sectionsOf(code: string): Promise<Section[]> {
  const sections: Section[] = []
  if (isProblemCode(code)) {
    const { status, title } = PROBLEMS[code]
    const where = `The code of an answer with the status ${status}.`
    sections.push({
      ...explainCode(ANSWERS, code),
      title,
      where,
      example: await exampleAnswer(code),
    })
  }
  const failed = failureCode.safeParse(code).data
  if (failed !== undefined) {
    const where =
      "The `error_code` of a job or File that failed, `error.code` of its Job; also in `details` of a 422 where it is known at once."
    sections.push({ ...explainCode(FAILURES, failed), where, example: exampleJob(failed) })
  }
  const detail = DETAIL_CODES.find((each) => each === code)
  if (detail !== undefined) {
    const where = "A code in `details` of an answer with the status 422."
    sections.push({ ...explainCode(DETAILS, detail), where, example: await exampleRefusal(detail) })
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
          <h2>What it means</h2>
          <p>
            <Prose text={means} />
          </p>
          <h2>What to do</h2>
          <p>
            <Prose text={remedy} />
          </p>
          <h2>An example</h2>
          <pre tabindex={0} role="region" aria-label="An example">
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
  const answers = Object.entries(PROBLEMS).map(([code, told]) => [
    code,
    `${told.status}`,
    told.title,
  ])
  return (
    <Frame title={title}>
      <header>
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
      </header>
      <Codes title="Answers" columns={["Code", "Status", "Meaning"]} rows={answers} />
      <Codes title="Jobs and Files that failed" rows={titlesOf(FAILURES)} />
      <Codes title="Details of a 422" rows={titlesOf(DETAILS)} />
      <p>
        <a href="/docs">The interface</a>
      </p>
    </Frame>
  )
}

function titlesOf(docs: ErrorDocs): string[][] {
  return [...docs].map(([code, { title }]) => [code, title])
}

/** A sentence whose words between backticks are code. */
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
    <Document title={title} scripts={null}>
      <main class="reading">
        <Brand />
        {children}
      </main>
    </Document>
  )
}
