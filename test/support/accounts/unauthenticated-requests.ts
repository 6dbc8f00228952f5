import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { makeRandom } from "../random.ts"

/**
 * Request without an API key or session. `kind` names the group of routes that the request tests.
 */
export type UnauthenticatedRequest = { kind: string; path: string; init: RequestInit }

type Make = (facts: {
  /** Number of earlier requests of the same kind. */
  at: number
  /** Random word, a different one in each request. */
  word: string
  id: string
}) => [path: string, init?: RequestInit]

const JSON_TYPE = { "content-type": "application/json" }

/** Returns functions that make requests of callers without a key or session, by kind of route. */
function kindsOf(origin: string, email: string): Record<string, Make> {
  function auth(path: string, body: object): [string, RequestInit] {
    const headers = { ...JSON_TYPE, origin }
    return [`/api/auth${path}`, { method: "POST", headers, body: JSON.stringify(body) }]
  }
  function form(path: string, fields: Record<string, string>): [string, RequestInit] {
    return [path, { method: "POST", headers: { origin }, body: new URLSearchParams(fields) }]
  }
  const password = "a guess of some letters"
  return {
    "an unknown path of sign-in": ({ word }) => [`/api/auth/${word.repeat(90)}`],
    "an unknown path of sign-in with a body": ({ word }) => auth(`/${word}`, { email }),
    "a path of sign-in that is not mounted": ({ at, word }) =>
      [
        auth("/update-user", { name: word }),
        auth("/sign-in/anonymous", {}),
        auth("/verify-password", { password }),
        auth("/sign-in/%65mail", { email, password }),
        auth("/sign-in/email/", { email, password }),
      ][at % 5] ?? ["/api/auth"],
    "an address of a reset": ({ word }) => [`/api/auth/reset-password/${word}?callbackURL=/`],
    "an answer of another service": ({ word }) => [
      `/api/auth/callback/${word}?code=x&state=${word}`,
    ],
    "a beginning with another service": ({ word }) =>
      auth("/sign-in/social", { provider: "github", callbackURL: `${origin}/${word}` }),
    "a link to another service": ({ word }) => [`/sign-in/with/github?next=/${word}`],
    "a guess of a password": ({ at, word }) =>
      auth("/sign-in/email", { email: at % 2 === 0 ? email : `${word}@people.test`, password }),
    "a guess in the form": ({ word }) =>
      form("/sign-in", { email: `${word}@people.test`, password }),
    "a sign-up": ({ word }) =>
      auth("/sign-up/email", { email: `${word}@people.test`, password, name: word.repeat(200) }),
    "a sign-up with an invitation": ({ word }) =>
      form("/sign-up", { email: `${word}@people.test`, password, invitation: word }),
    "a reset": ({ at, word }) =>
      auth("/request-password-reset", { email: at % 2 === 0 ? email : `${word}@people.test` }),
    "a new password": ({ word }) => form("/reset-password", { token: word, password }),
    "a confirmation": ({ word }) => [`/verify-email?token=${word}`],
    "another mail": ({ word }) => form("/verify-email", { email: `${word}@people.test` }),
    "a forged session": ({ word }) => {
      const cookie = `__Secure-lathe.session_token=${word}.${word}; lathe.session_token=${word}`
      return ["/", { headers: { cookie } }]
    },
    "a page": ({ word }) => [`/jobs?search=${word}`],
    "a page that is not there": ({ word }) => [`/${word}`, { headers: { accept: "text/html" } }],
    "a key of no shape": ({ word }) => ["/v1/files", { headers: { "x-api-key": word } }],
    "a key that nobody made": () => ["/v1/files", { headers: { "x-api-key": assembleApiKey() } }],
    "a key in the query": () => [`/v1/jobs?key=${assembleApiKey()}`],
    "a job": ({ word }) => {
      const headers = { ...JSON_TYPE, "x-api-key": assembleApiKey(), "idempotency-key": word }
      const body = JSON.stringify({ ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}" })
      return ["/v1/commands", { method: "POST", headers, body }]
    },
    "an upload": ({ word }) => {
      const body = new FormData()
      body.append("file", new File([word], "in.txt"))
      return ["/v1/files", { method: "POST", body }]
    },
    "a webhook": ({ word }) => {
      const body = JSON.stringify({ url: `http://127.0.0.1:9/${word}` })
      return ["/v1/webhooks/test", { method: "POST", headers: JSON_TYPE, body }]
    },
    "a lookup": ({ word }) => [`/v1/fetch/metadata?url=http://127.0.0.1:9/${word}`],
    "the documentation": ({ at, word }) => [
      ["/docs", "/v1/openapi.json", "/v1/health", `/docs/errors/${word}`, `/assets/${word}/x.js`][
        at % 5
      ] ?? "/docs",
    ],
    "a published file": ({ id }) => [`/public/1/${id}/in.txt`],
    "a forged link": ({ word }) => [`/media/${word}.${word}/in.txt`],
    "the operator's routes": ({ word }) => [
      "/operator/keys",
      { method: "POST", headers: { authorization: `Bearer ${word}` }, body: "{}" },
    ],
    "a runner's routes": ({ id, word }) => [
      `/io/${id}/outputs/out_1`,
      { method: "PUT", headers: { authorization: `Bearer ${word}` }, body: word },
    ],
    "the metrics": ({ word }) => ["/metrics", { headers: { authorization: `Bearer ${word}` } }],
    "a preflight": ({ word }) => [
      "/v1/files",
      {
        method: "OPTIONS",
        headers: { origin: `https://${word}.test`, "access-control-request-method": "POST" },
      },
    ],
    "another site's form": ({ word }) => {
      const headers = { ...JSON_TYPE, origin: `https://${word}.test`, cookie: `a=${word}` }
      const body = JSON.stringify({ email, password, callbackURL: `https://${word}.test` })
      return ["/api/auth/sign-in/email", { method: "POST", headers, body }]
    },
    "another method": ({ at, word }) => [
      `/${["v1/files", "docs", "sign-in", "api/auth/sign-out", word][at % 5] ?? ""}`,
      { method: ["PUT", "DELETE", "PATCH"][at % 3] ?? "PUT" },
    ],
  }
}

/**
 * Makes `count` requests without an API key or session, in turn for each kind of route. `email` is
 * the address of an existing user.
 */
export function makeUnauthenticatedRequests(
  count: number,
  { origin, email }: { origin: string; email: string },
): UnauthenticatedRequest[] {
  const { whole } = makeRandom(7)
  const kinds = Object.entries(kindsOf(origin, email))
  return Array.from({ length: count }, (_, at) => {
    const [kind, make] = kinds[at % kinds.length] ?? ["", () => ["/"]]
    const word = `w${whole(2 ** 32).toString(36)}${at}`
    const [path, init = {}] = make({
      at: Math.floor(at / kinds.length),
      word,
      id: crypto.randomUUID(),
    })
    return { kind, path, init: { redirect: "manual", ...init } }
  })
}
