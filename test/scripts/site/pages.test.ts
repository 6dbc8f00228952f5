import { globSync, readFileSync } from "node:fs"
import { beforeAll, describe, expect, test } from "vitest"
import { failureCodeSchema } from "../../../src/contract/failure.ts"
import { FAULT_CODES_OF_REQUESTS_ONLY } from "../../../src/domain/faults.ts"
import { PROBLEMS } from "../../../src/api/output/problem.ts"
import { jobRecordSchema } from "../../../src/kinds/job-record.ts"
import { readErrorExplanations } from "../../../scripts/site/error-explanations.ts"
import { readPages } from "../../../scripts/site/read-pages.ts"
import { readDocumentedServiceData } from "../../../scripts/site/service-facts.ts"
import { renderPage } from "../../../scripts/site/markdown.ts"
import { makeHeadingUrl, makeMarkdownPage } from "../../../scripts/site/texts.ts"
import type { SitePage } from "../../../scripts/site/page.ts"
import { readPageSummary, makePageUrl } from "../../../scripts/site/page.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { readProblem } from "../../support/problem.ts"
import { z } from "zod"

/** Every code that the service has. */
const CODES = new Set([
  ...Object.keys(PROBLEMS),
  ...failureCodeSchema.options,
  ...FAULT_CODES_OF_REQUESTS_ONLY,
])

/** Addresses of the service that are no pages of Markdown. */
const OTHER_ADDRESSES = ["/", "/docs/llms.txt", "/docs/reference/viewer"]

let pages: Map<string, SitePage>

beforeAll(async () => {
  await using folder = await makeTempFolder("facts")
  const facts = await readDocumentedServiceData(folder.path)
  pages = new Map((await readPages(facts)).map((page) => [page.path, page]))
})

function textOf(path: string): string {
  return pages.get(path)?.markdown ?? ""
}

/** Examples of a page, as their reader copies them. */
function examplesOf(markdown: string): unknown[] {
  return [...markdown.matchAll(/```json\n(.*?)\n```/gs)].map(([, text = ""]): unknown =>
    JSON.parse(text),
  )
}

const headed = z.looseObject({ status: z.int(), request_id: z.string() })

/** Returns the codes of an example, which is an error of the interface or a Job. */
async function readExample(example: unknown): Promise<string[]> {
  if (jobRecordSchema.safeParse(example).success) {
    return [jobRecordSchema.strict().parse(example).error?.code ?? ""]
  }
  const { status, request_id: id } = headed.parse(example)
  const answer = Response.json(example, { status, headers: { "x-request-id": id } })
  const { code_name, details } = await readProblem(answer)
  expect(status).toBe(PROBLEMS[code_name].status)
  return [code_name, ...details.map(({ code }) => code)]
}

describe("the page of an error code", () => {
  test.each([...CODES])("%s has its meaning and its remedy, with examples", async (code) => {
    const text = textOf(`errors/${code}`)
    expect(text).toContain(`# \`${code}\`\n`)
    const examples = examplesOf(text)
    expect(examples.length).toBe(text.split("\n## Remedy").length - 1)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(await readExample(example)).toContain(code)
  })

  test("is in the list of all codes", () => {
    for (const code of CODES) expect(textOf("errors/index")).toContain(`(/docs/errors/${code})`)
  })
})

describe("docs/errors", () => {
  const { answers, failures, details } = readErrorExplanations()
  test.each([
    ["answers", answers, Object.keys(PROBLEMS)],
    ["failures", failures, failureCodeSchema.options],
    ["details", details, FAULT_CODES_OF_REQUESTS_ONLY],
  ])("%s.md explains each of its codes, and no other", (_, docs, codes) => {
    expect([...docs.keys()].toSorted()).toEqual([...codes].toSorted())
    for (const { means, remedy, message } of docs.values()) {
      expect([means, remedy, message]).toEqual(Array(3).fill(expect.stringMatching(/^[^>#].+ /)))
    }
  })
})

describe("a page", () => {
  test("begins with a sentence for lists of pages", () => {
    for (const page of pages.values()) {
      expect([page.path, readPageSummary(page)]).toEqual([
        page.path,
        expect.stringMatching(/^[A-Za-z/].{10,}[.\w]$/s),
      ])
    }
  })

  test("has a Markdown twin whose links lead to addresses of the site", () => {
    const addresses = new Set([...pages.keys()].map(makePageUrl))
    for (const page of pages.values()) {
      const prose = makeMarkdownPage(page).replaceAll(/^```[\s\S]*?^```$/gm, "")
      for (const [, link = ""] of prose.matchAll(/(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g)) {
        if (/^(?:https?:|#|\/v1\/)/.test(link)) continue
        const [address = ""] = link.split("#")
        const isKnown = addresses.has(address) || OTHER_ADDRESSES.includes(address)
        expect([page.path, link, isKnown]).toEqual([page.path, link, true])
      }
    }
  })
})

test("the dashboard links to pages that exist", () => {
  const anchors = new Set(["/docs", "/docs/errors/"])
  for (const page of pages.values()) {
    const { sections } = renderPage(page.markdown, (link) => link)
    for (const { heading } of sections) anchors.add(makeHeadingUrl(page, heading?.anchor))
  }
  const texts = globSync("src/dashboard/**/*.tsx").map((path) => readFileSync(path, "utf8"))
  const links = texts.flatMap((text) => [...text.matchAll(/"(\/docs[\w/#-]*)"/g)])
  expect(links.length).toBeGreaterThan(12)
  for (const [, link = ""] of links) expect([link, anchors.has(link)]).toEqual([link, true])
})

test("the reference has each operation and each event of the OpenAPI document", () => {
  const overview = textOf("reference/index")
  for (const request of ["POST /v1/commands", "GET /v1/jobs/{id}/events", "PATCH /v1/uploads/{id}"])
    expect(overview).toContain(`\`${request}\``)
  for (const event of ["command.succeeded", "file.failed", "webhook.test"])
    expect(textOf("reference/events")).toContain(`\`${event}\``)
  expect(textOf("reference/commands")).toContain("| `ffmpeg_command` | string, up to 65536")
})
