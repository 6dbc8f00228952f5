import { readFile } from "node:fs/promises"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { createKeyAsOperator } from "../../../scripts/keys/operator.ts"
import { readStoredSecrets } from "../../../scripts/cli/secrets.ts"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { openKeyedCall } from "./keyed-call.ts"
import type { KeyedCall } from "./keyed-call.ts"
import { collectLines } from "./log-lines.ts"
import type { Printed } from "./log-lines.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { signInAsOperator } from "./visitor.ts"

const SEARCHED_CHARACTERS = 12
const JSON_HEADERS = { "content-type": "application/json" }

/** Settings of an operator, each with its own secret. */
const OWN = {
  cookie: "operators-own-cookie-value",
  mail: "re_operators_mail_key_1234567890",
  provider: "operators-client-secret-of-github",
  store: "operators-secret-access-key-0123",
  storeId: "OPERATORSACCESSKEYID",
}
/** Secrets that callers put into URLs, bodies and headers. */
const GIVEN = {
  user: "usernameofcaller",
  password: "passwordofcaller",
  query: "queryvalueofcaller",
  path: "pathsecretofcaller",
  cookie: "cookievalueofcaller",
  signIn: "a password that is wrong",
  ownPassword: "password-of-the-operator",
  session: "sessiontokenofnobody.signature",
  reset: "resettokenofnobody12345678",
}

const opened = new AsyncDisposableStack()
let site: TestSite
let receiver: Receiver
let service: TestService
let printed: Printed
let key = ""
let call: KeyedCall

beforeAll(async () => {
  site = await startTestSite()
  opened.defer(async () => await site.close())
  receiver = opened.use(await startReceiver())
  service = opened.use(
    await startService({
      ALLOWED_PRIVATE_HOSTS: [site.host, new URL(receiver.origin).host].join(","),
      LOG_LEVEL: "debug",
      FETCH_COOKIES: [".a.example", "TRUE", "/", "FALSE", "0", "sid", OWN.cookie].join("\t"),
      RESEND_API_KEY: OWN.mail,
      MAIL_API_URL: receiver.origin,
      SIGN_IN_PROVIDERS: JSON.stringify({ github: { clientId: "x", clientSecret: OWN.provider } }),
      S3_SOURCES: JSON.stringify([
        {
          bucket: "films",
          // Nothing listens there.
          endpoint: "http://127.0.0.1:9",
          access_key_id: OWN.storeId,
          secret_access_key: OWN.store,
        },
      ]),
    }),
  )
  printed = collectLines(service)
  key = await service.makeKey("logs", "paid")
  call = openKeyedCall(service, key)
})

afterAll(async () => await opened.disposeAsync())

const record = z.looseObject({ id: z.string(), status: z.string() })

async function post(path: string, body: object): Promise<{ answer: Response; read: unknown }> {
  const answer = await call(path, {
    method: "POST",
    headers: JSON_HEADERS,
    body: JSON.stringify(body),
  })
  return { answer, read: await answer.json() }
}

/** The record of a job once it is over. */
async function untilOver(path: string) {
  const answer = await call(path, { headers: { prefer: "wait=60" } })
  return record.parse(await answer.json())
}

describe("the log", () => {
  it("follows a request by one id through Worker, dispatcher, runner and webhook", async () => {
    const command = {
      ffmpeg_command: "ffmpeg -f lavfi -i color=s=16x16 -frames:v 1 {{out_1}}",
      input_files: {},
      output_files: { out_1: "out.png" },
      webhook: `${receiver.origin}/followed`,
    }
    const { answer, read } = await post("/commands", command)
    const requestId = answer.headers.get("x-request-id")
    const jobId = z.looseObject({ command_id: z.string() }).parse(read).command_id
    await pWaitFor(() => receiver.received.some(({ path }) => path === "/followed"))
    const told = receiver.received.find(({ path }) => path === "/followed")
    expect(told?.headers["x-request-id"]).toBe(requestId)
    function followed() {
      return printed.entries().filter((each) => each["request_id"] === requestId)
    }
    await pWaitFor(() => followed().some(({ event }) => event === "webhook.tried"))
    const events = followed().map(({ part, event }) => `${part} ${event}`)
    expect(events).toEqual(
      expect.arrayContaining([
        "worker request.answered",
        "worker task.dispatched",
        "runner task.accepted",
        "runner process.started",
        "runner task.ended",
        "worker job.ended",
        "worker webhook.tried",
      ]),
    )
    const ended = printed
      .entries()
      .find(({ event, job_id }) => event === "job.ended" && job_id === jobId)
    expect(ended).toMatchObject({ kind: "command", state: "succeeded", attempts: 1 })
    const tried = followed().find(({ event }) => event === "webhook.tried")
    expect(tried).toMatchObject({
      job_id: jobId,
      host: new URL(receiver.origin).host,
      attempt: 1,
      status: 204,
      outcome: "delivered",
    })
  })

  it("has one line for each request, with its account and its status", async () => {
    const headers = { "x-request-id": "a-name-of-mine" }
    const [taken, unknown] = [await call("/files", { headers }), await call("/files/nothing")]
    await Promise.all([taken.text(), unknown.text()])
    function linesOf(answer: Response) {
      const id = answer.headers.get("x-request-id")
      return printed.entries().filter((each) => each["request_id"] === id)
    }
    await pWaitFor(() => linesOf(taken).length > 0 && linesOf(unknown).length > 0)
    expect(linesOf(taken)).toEqual([
      expect.objectContaining({
        event: "request.answered",
        level: "info",
        client_request_id: "a-name-of-mine",
        method: "GET",
        path: "/v1/files",
        status: 200,
        duration_ms: expect.any(Number),
        account_id: expect.any(String),
        key_id: expect.any(String),
      }),
    ])
    expect(linesOf(unknown)).toEqual([
      expect.objectContaining({ path: "/v1/files/nothing", status: 404, code: "not_found" }),
    ])
  })

  it("contains no secret and no key", async () => {
    const secrets = [...Object.values(OWN), ...Object.values(GIVEN), ...(await useSecrets())]
    const kept = readStoredSecrets(service.stateDir)
    secrets.push(key, kept?.LATHE_SECRET ?? "", kept?.OPERATOR_TOKEN ?? "")
    await pWaitFor(() => printed.lines.some((line) => line.includes("the-last-of-them")))
    const text = printed.lines.join("\n")
    const shown = secrets.filter((secret) => text.includes(secret.slice(0, SEARCHED_CHARACTERS)))
    expect(shown).toEqual([])
    expect(secrets.every((secret) => secret.length >= SEARCHED_CHARACTERS)).toBe(true)
    // Lines that are no entries are the start script's own sentences.
    const others = printed.lines.filter((line) => !line.startsWith("{"))
    expect(others).toEqual([expect.stringMatching(/^Lathe serves http/)])
  })
})

/** Does whatever has to do with secrets, in good and in bad ways; the secrets that it was given. */
async function useSecrets(): Promise<string[]> {
  const { origin } = service
  const target = new URL(site.url(`/nothing/${GIVEN.path}?sig=${GIVEN.query}`))
  const userUrl = withUser(target)
  const webhook = new URL(`${receiver.origin}/${GIVEN.path}?token=${GIVEN.query}`)
  const link = await upload(webhook.href)
  await post("/webhooks/test", { url: webhook.href })
  await post("/webhooks/test", { url: withUser(webhook).href })
  const others = [
    post("/files", { url: target.href }),
    post("/files", { url: `${target.href}&key=${key}` }),
    post("/commands", {
      ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
      input_files: { in_1: target.href },
      output_files: { out_1: "out.png" },
      webhook: webhook.href,
    }),
    post("/files", { url: userUrl.href }),
    post("/fetch", { url: userUrl.href }),
    post("/files", { url: "s3://films/a.mp4" }),
    post("/fetch", {
      url: target.href,
      cookies: [site.host, "FALSE", "/", "FALSE", "0", "sid", GIVEN.cookie].join("\t"),
    }),
  ]
  const made = await Promise.all(others)
  for (const { answer, read } of made) if (answer.ok) await untilOver(pathOf(read))
  const whsec = z.looseObject({ secret: z.string() })
  const before = whsec.parse(await (await call("/webhooks/secret")).json()).secret
  const { read: rotated } = await post("/webhooks/secret/rotate", {})
  const wrong = [assembleApiKey(), `${key.slice(0, -1)}x`]
  const forged = `${link.slice(0, -20)}${"A".repeat(20)}`
  const cookie = `lathe.session_token=${GIVEN.session}`
  const asked: [string, RequestInit?][] = [
    [`/v1/files?key=${key}`],
    ...wrong.map((each): [string] => [`/v1/files?key=${each}`]),
    ["/v1/files", { headers: { authorization: `Bearer ${wrong[0]}` } }],
    ["/v1/files", { headers: { authorization: `Bearer ${key}`, "x-api-key": wrong[0] ?? "" } }],
    ["/operator/keys", { headers: { authorization: `Bearer ${wrong[0]}` } }],
    ["/metrics", { headers: { authorization: `Bearer ${service.operator.token}` } }],
    [link.slice(origin.length)],
    [forged.slice(origin.length)],
    ["/", { headers: { cookie } }],
    [`/api/auth/reset-password/${GIVEN.reset}?callbackURL=/`],
    [`/reset-password/${GIVEN.reset}`],
    [`/invitations/${GIVEN.reset}?token=${GIVEN.reset}`],
    [
      "/api/auth/sign-in/email",
      {
        method: "POST",
        headers: { ...JSON_HEADERS, origin },
        body: JSON.stringify({ email: "a@b.example", password: GIVEN.signIn }),
      },
    ],
  ]
  for (const [path, init] of asked) {
    await (await fetch(origin + path, { redirect: "manual", ...init })).arrayBuffer()
  }
  const ofSession = await useSession()
  const another = await createKeyAsOperator(service.operator, { account: "logs of another" })
  await (await call("/files", { headers: { "x-request-id": "the-last-of-them" } })).text()
  const tokenOfLink = new URL(link).pathname.split("/")[2] ?? ""
  // The part before the signature has ids and a time, which are no secrets.
  const signature = tokenOfLink.split(".").at(-1) ?? ""
  return [...ofSession, another.key, ...wrong, before, whsec.parse(rotated).secret, signature]
}

/** Signs an operator in, who looks at a page; the token and the cookies of that. */
async function useSession(): Promise<string[]> {
  const person = { email: "operator@logs.example", password: GIVEN.ownPassword }
  const { visitor, token } = await signInAsOperator(service, person)
  const page = await visitor.visit("/settings")
  const requestId = page.headers.get("x-request-id")
  function line() {
    return printed.entries().find((each) => each["request_id"] === requestId)
  }
  await pWaitFor(() => line() !== undefined)
  expect(line()).toMatchObject({ path: "/settings", status: 200, account_id: expect.any(String) })
  const cookies = visitor.cookies()
  return [token, ...cookies, ...cookies.map((value) => decodeURIComponent(value))]
}

function withUser(url: URL): URL {
  const named = new URL(url)
  named.username = GIVEN.user
  named.password = GIVEN.password
  return named
}

/** Uploads a clip with a webhook; the signed link that it can be downloaded from. */
async function upload(webhook: string): Promise<string> {
  const form = new FormData()
  form.set("webhook", webhook)
  form.set("file", new Blob([await readFile("scripts/demo/command/clip.mp4")]), "clip.mp4")
  const answer = await call("/files", { method: "POST", body: form })
  const { id } = record.parse(await answer.json())
  await untilOver(`/files/${id}`)
  const shown = await (await call(`/files/${id}`)).json()
  const { download_url } = z.looseObject({ download_url: z.url() }).parse(shown)
  const redirect = await call(download_url, { redirect: "manual" })
  return redirect.headers.get("location") ?? download_url
}

const ids = z.looseObject({
  id: z.string().optional(),
  command_id: z.string().optional(),
  fetch_id: z.string().optional(),
})

/** Where the record of what a create answered is. */
function pathOf(read: unknown): string {
  const { id = "", command_id: commandId, fetch_id: fetchId } = ids.parse(read)
  if (commandId !== undefined) return `/commands/${commandId}`
  return fetchId === undefined ? `/files/${id}` : `/fetch/${fetchId}`
}
