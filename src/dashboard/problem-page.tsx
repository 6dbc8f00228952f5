import type { Context } from "hono"
import { HTTPException } from "hono/http-exception"
import { findSignedIn } from "../auth/session.ts"
import type { SignedIn } from "../auth/session.ts"
import { answerNotFound, problemOf } from "../http/answers.ts"
import { PROBLEMS, Problem } from "../http/problem.ts"
import { publicOrigin } from "../http/request.ts"
import type { App, AppContext } from "../http/request.ts"
import { Card } from "./components/card.tsx"
import { hardened } from "./hardened.ts"
import { Document, showPageFor } from "./layout.tsx"

type Known = App & { Variables: { signedIn?: SignedIn } }

/** The answer to whatever a page threw, as a page. */
export async function answerPageError<Pages extends Known>(
  error: Error,
  c: Context<Pages>,
): Promise<Response> {
  const problem = error instanceof HTTPException ? notFromHere(error) : await problemOf(error, c)
  return await showProblem(c, problem, c.get("signedIn") ?? null)
}

/** What the check of a form's origin throws. */
function notFromHere(cause: HTTPException): Problem {
  return new Problem("forbidden", "The form was not sent by a page of this service.", { cause })
}

/**
 * Tells a person that there is no such page; whoever else asks gets the answer of the interface, whose
 * paths are `templates`.
 */
export async function answerUnknownPath(
  c: AppContext,
  templates: readonly string[],
): Promise<Response> {
  if (!isForPerson(c)) return answerNotFound(c, templates)
  const signedIn = await findSignedIn(c.env, publicOrigin(c), c.req.raw.headers)
  const problem = new Problem("not_found", "There is no page at this address.")
  await hardened(c, async () => {
    c.res = await showProblem(c, problem, signedIn)
  })
  return c.res
}

/** Paths that programs ask, whatever they say that they accept. */
const FOR_PROGRAMS = /^\/(?:v1|io|operator|media|api|assets)(?:\/|$)/

function isForPerson({ req }: AppContext): boolean {
  const asksForPage = /\btext\/html\b/.test(req.header("accept") ?? "")
  return req.method === "GET" && asksForPage && !FOR_PROGRAMS.test(req.path)
}

async function showProblem<Variables extends App>(
  c: Context<Variables>,
  problem: Problem,
  signedIn: SignedIn | null,
): Promise<Response> {
  const { status, title } = PROBLEMS[problem.code]
  for (const [name, value] of Object.entries(problem.facts.headers ?? {})) c.header(name, value)
  const content = <ProblemCard problem={problem} requestId={c.get("requestId")} />
  if (signedIn) return await showPageFor(c, signedIn, { title, section: null, status }, content)
  const page = (
    <Document title={title}>
      <main>
        <h1>{title}</h1>
        {content}
      </main>
    </Document>
  )
  return await c.html(page, status)
}

function ProblemCard({ problem, requestId }: { problem: Problem; requestId: string }) {
  return (
    <Card>
      <p>{problem.message}</p>
      <p class="soft">
        The code is <a href={`/docs/errors/${problem.code}`}>{problem.code}</a>, the request{" "}
        <code>{requestId}</code>.
      </p>
      <p>
        <a class="button" href="/">
          Go to the overview
        </a>
      </p>
    </Card>
  )
}
