import { beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { failureCodeSchema } from "../../src/contract/failure.ts"
import {
  PROBLEM_EXPLANATIONS,
  FAULT_CODE_EXPLANATIONS,
  FAILURE_EXPLANATIONS,
} from "../../src/dashboard/errors/explanations.ts"
import { FAULT_ONLY_CODES } from "../../src/domain/faults.ts"
import { PROBLEMS } from "../../src/api/output/problem.ts"
import { jobRecordSchema } from "../../src/kinds/job-record.ts"
import { REQUEST_MISTAKES } from "../api/mistakes/requests.ts"
import { fetchWorker, makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { readProblem } from "../support/problem.ts"

/** Every code that the service has. */
const CODES = new Set([
  ...Object.keys(PROBLEMS),
  ...failureCodeSchema.options,
  ...FAULT_ONLY_CODES,
  ...REQUEST_MISTAKES.map(({ code }) => code),
])

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("errors")
})

async function visit(path: string): Promise<{ answer: Response; html: string }> {
  const answer = await fetchWorker(path, { redirect: "manual" })
  return { answer, html: await answer.text() }
}

/** The examples of a page, as their reader copies them. */
function examplesOf(html: string): unknown[] {
  return [...html.matchAll(/<pre [^>]*><code>(.*?)<\/code><\/pre>/gs)].map(
    ([, text = ""]): unknown =>
      JSON.parse(
        text
          .replaceAll("&quot;", '"')
          .replaceAll("&#39;", "'")
          .replaceAll("&lt;", "<")
          .replaceAll("&gt;", ">")
          .replaceAll("&amp;", "&"),
      ),
  )
}

/** An example as what it is one of: an error of the interface, or a Job. */
async function readExample(example: unknown): Promise<string[]> {
  if (jobRecordSchema.safeParse(example).success) {
    return [jobRecordSchema.strict().parse(example).error?.code ?? ""]
  }
  const { code_name, status, details } = await readProblem(asAnswer(example))
  expect(status).toBe(PROBLEMS[code_name].status)
  return [code_name, ...details.map(({ code }) => code)]
}

const headed = z.looseObject({ status: z.int(), request_id: z.string() })

function asAnswer(example: unknown): Response {
  const { status, request_id } = headed.parse(example)
  return Response.json(example, { status, headers: { "x-request-id": request_id } })
}

describe("the page of an error code", () => {
  test.each([...CODES])("%s has its meaning and its remedy, with examples", async (code) => {
    const { answer, html } = await visit(`/docs/errors/${code}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toMatch(/^text\/html\b/)
    expect(html).toContain(`<h1><code>${code}</code></h1>`)
    const examples = examplesOf(html)
    expect(examples.length).toBe(html.split("<h2>Remedy</h2>").length - 1)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(await readExample(example)).toContain(code)
  })

  test("has no script, and blocks scripts", async () => {
    const { answer, html } = await visit("/docs/errors/internal")
    const policy = answer.headers.get("content-security-policy")
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain("script-src")
    expect(html).not.toContain("<script")
    expect(html).toContain('content="light dark"')
  })

  test("is the target of the type of an error", async () => {
    const { type } = await readProblem(await fetchWorker("/v1/nowhere"))
    expect((await visit(type)).answer.status).toBe(200)
  })

  test.each([
    ["validation_error", "unprocessable"],
    ["Unprocessable", "unprocessable"],
    ["invalid-token", "invalid_token"],
    ["invalid_token/", "invalid_token"],
    ["a%0D%0Ab/", "a%0D%0Ab"],
  ])("is where %s leads, too", async (address, code) => {
    const { answer } = await visit(`/docs/errors/${address}`)
    expect(answer.status).toBe(308)
    expect(answer.headers.get("location")).toBe(`/docs/errors/${code}`)
  })

  test("is the target of the type of a 422", async () => {
    const answer = await fetchWorker("/v1/jobs?kind=film", { headers: { "x-api-key": caller.key } })
    const { error } = await answer.json<{ error: string }>()
    expect((await visit(`/docs/errors/${error}`)).answer.status).toBe(308)
  })

  test("is suggested for a misspelled code", async () => {
    const { answer, html } = await visit("/docs/errors/not_fuond")
    expect(answer.status).toBe(404)
    expect(html).toContain("Did you mean not_found?")
  })

  test.each(["nosuch", "toString", "__proto__", "%3Cscript%3E"])(
    "%s is not found, and the codes that there are stand there",
    async (code) => {
      const { answer, html } = await visit(`/docs/errors/${code}`)
      expect(answer.status).toBe(404)
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'")
      expect(html).toContain("Unknown error code")
      expect(html).toContain('href="/docs/errors/internal"')
      expect(html).not.toContain("<script")
    },
  )
})

describe("docs/errors", () => {
  test.each([
    ["answers", PROBLEM_EXPLANATIONS, Object.keys(PROBLEMS)],
    ["failures", FAILURE_EXPLANATIONS, failureCodeSchema.options],
    ["details", FAULT_CODE_EXPLANATIONS, FAULT_ONLY_CODES],
  ])("%s.md explains each of its codes, and no other", (_, docs, codes) => {
    expect([...docs.keys()].toSorted()).toEqual([...codes].toSorted())
    for (const { means, remedy, message } of docs.values()) {
      expect([means, remedy, message]).toEqual(Array(3).fill(expect.stringMatching(/^[^>#].+ /)))
    }
  })
})

describe("the index of error codes", () => {
  test("names every code, and the page of the interface links to it", async () => {
    const { html } = await visit("/docs/errors/")
    for (const code of CODES) expect(html).toContain(`href="/docs/errors/${code}"`)
    expect((await visit("/docs")).html).toContain('href="/docs/errors/"')
    expect((await visit("/docs/errors")).answer.headers.get("location")).toBe("/docs/errors/")
  })
})
