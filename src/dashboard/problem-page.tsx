import type { Context } from "hono"
import { HTTPException } from "hono/http-exception"
import { findSignedInUser } from "../accounts/sign-in/signed-in-user.ts"
import type { SignedInUser } from "../accounts/sign-in/signed-in-user.ts"
import { respondNotFound, errorToProblem } from "../api/middleware/error-responses.ts"
import { Problem, PROBLEMS } from "../api/output/problem.ts"
import { getPublicOrigin } from "../api/input/request.ts"
import type { AppEnv, AppContext } from "../api/context.ts"
import { LinkButton } from "./components/buttons.tsx"
import { Card } from "./components/card.tsx"
import { setDashboardSecurityHeaders } from "./security-headers.ts"
import { HtmlDocument, showPageForUser } from "./layout.tsx"

type ProblemContext = AppEnv & { Variables: { signedIn?: SignedInUser } }

/** Responds with an error page for an error that a page threw. */
export async function respondWithErrorPage<Pages extends ProblemContext>(
  error: Error,
  c: Context<Pages>,
): Promise<Response> {
  const problem =
    error instanceof HTTPException ? notFromHere(error) : await errorToProblem(error, c)
  return await showProblem(c, problem, c.get("signedIn") ?? null)
}

/** Returns the error for a form that was submitted from another site. */
function notFromHere(cause: HTTPException): Problem {
  return new Problem(
    "forbidden",
    "Another site sent the form; send it from a page of this service.",
    { cause },
  )
}

/**
 * Responds to an unknown path. A browser gets an error page; other clients get the API's error,
 * which suggests one of the path templates.
 */
export async function respondToUnknownPath(
  c: AppContext,
  templates: readonly string[],
): Promise<Response> {
  if (!isForPerson(c)) return respondNotFound(c, templates)
  const signedIn = await findSignedInUser(c.env, getPublicOrigin(c), c.req.raw.headers)
  const problem = new Problem("not_found", "No page exists at this address.")
  await setDashboardSecurityHeaders(c, async () => {
    c.res = await showProblem(c, problem, signedIn)
  })
  return c.res
}

/** Paths that programs request, even with an Accept header that contains text/html. */
const FOR_PROGRAMS = /^\/(?:v1|io|operator|media|api|assets)(?:\/|$)/

function isForPerson({ req }: AppContext): boolean {
  const asksForPage = /\btext\/html\b/.test(req.header("accept") ?? "")
  return req.method === "GET" && asksForPage && !FOR_PROGRAMS.test(req.path)
}

async function showProblem<Variables extends AppEnv>(
  c: Context<Variables>,
  problem: Problem,
  signedIn: SignedInUser | null,
): Promise<Response> {
  const { status: exactStatus, title } = PROBLEMS[problem.code]
  // Hono's types lack the tus status 460, which no page returns.
  const status = exactStatus === 460 ? 400 : exactStatus
  for (const [name, value] of Object.entries(problem.options.headers ?? {})) c.header(name, value)
  const content = <ProblemCard problem={problem} requestId={c.get("requestId")} />
  if (signedIn) return await showPageForUser(c, signedIn, { title, section: null, status }, content)
  const page = (
    <HtmlDocument title={title}>
      <main>
        <h1>{title}</h1>
        {content}
      </main>
    </HtmlDocument>
  )
  return await c.html(page, status)
}

function ProblemCard({ problem, requestId }: { problem: Problem; requestId: string }) {
  return (
    <Card>
      <p>{problem.message}</p>
      <p class="soft">
        Code: <a href={`/docs/errors/${problem.code}`}>{problem.code}</a>, the request{" "}
        <code>{requestId}</code>.
      </p>
      <p>
        <LinkButton to="/" text="Go to the overview" />
      </p>
    </Card>
  )
}
