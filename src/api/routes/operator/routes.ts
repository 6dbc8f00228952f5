import { Hono } from "hono"
import { z } from "zod"
import { authenticateRunnerStart, authenticateOperator } from "../../middleware/auth.ts"
import { readJsonBody, getPublicOrigin, anyObjectSchema } from "../../input/request.ts"
import type { AppEnv, AppContext } from "../../context.ts"
import { addMethodNotAllowedRoutes } from "../methods.ts"
import { reportRunnerStartToPools } from "../../../upkeep/inspect-containers.ts"
import { accountRoutes } from "./accounts.ts"
import { healthRoutes } from "./health.ts"
import { keyRoutes } from "./keys.ts"
import { planRoutes } from "./plans.ts"
import { createOrPromoteOperator } from "../../../accounts/sign-in/operators.ts"
import { getSettings } from "../../../bindings/env.ts"
import { Problem } from "../../output/problem.ts"
import { toDateTime } from "../../../kinds/shared-record-fields.ts"
import { signText, toBase64Url, verifyTextSignature } from "../../../platform/crypto/signature.ts"

const TOKEN_PURPOSE = "webhook-check"
const ANSWER_PURPOSE = "webhook-check-answer"
const NONCE_BYTES = 16
const CHECK_LIFE_MS = 1_800_000

/**
 * Operator's test that webhooks arrive: the token in the URL to which a webhook is sent, and the
 * response that proves its arrival at this service.
 */
type WebhookCheck = { token: string; answer: string; expiresAt: number }

/**
 * Creates a webhook check that expires after half an hour. The signed token holds all data of the
 * check.
 */
export async function makeWebhookCheck(secret: string, now: number): Promise<WebhookCheck> {
  const expiresAt = now + CHECK_LIFE_MS
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const text = `${expiresAt}.${nonce}`
  const token = `${text}.${await signText(secret, TOKEN_PURPOSE, text)}`
  return { token, answer: await signText(secret, ANSWER_PURPOSE, text), expiresAt }
}

/**
 * Verifies the token of a webhook check, and returns the check; null if the signature is invalid.
 */
async function readWebhookCheck(secret: string, token: string): Promise<WebhookCheck | null> {
  const [expiry = "", nonce = "", signature = "", ...rest] = token.split(".")
  const text = `${expiry}.${nonce}`
  if (rest.length > 0 || !(await verifyTextSignature(secret, TOKEN_PURPOSE, { text, signature })))
    return null
  return { token, answer: await signText(secret, ANSWER_PURPOSE, text), expiresAt: Number(expiry) }
}

/** Operator route that creates the receiver URL of a webhook check. */
const webhookCheckRoutes = new Hono<AppEnv>()

webhookCheckRoutes.post("/", async (c) => {
  const check = await makeWebhookCheck(getSettings(c.env).LATHE_SECRET, Date.now())
  const { token, answer, expiresAt } = check
  const url = `${getPublicOrigin(c)}/operator/webhook-checks/${token}`
  return c.json({ url, answer, expires_at: toDateTime(expiresAt) }, 201)
})

/**
 * Receives the webhook of a check at its signed URL. The operator knows the response in advance.
 * The response in the delivery's record proves that the webhook arrived at this service.
 */
async function receiveWebhookCheck(c: AppContext): Promise<Response> {
  const check = await readWebhookCheck(getSettings(c.env).LATHE_SECRET, c.req.param("token") ?? "")
  if (!check)
    throw new Problem("invalid_signature", "The URL does not belong to a check of webhooks.")
  if (Date.now() > check.expiresAt) {
    throw new Problem("link_expired", "The check of webhooks has ended; begin a new check.")
  }
  await readJsonBody(c, anyObjectSchema)
  return c.json({ answer: check.answer })
}

/** Operator route that grants a user operator rights. */
const appointmentRoutes = new Hono<AppEnv>()

const operatorRequest = z.strictObject({ email: z.email("expected an email address") })

appointmentRoutes.post("/", async (c) => {
  const { email } = await readJsonBody(c, operatorRequest)
  const { user, link } = await createOrPromoteOperator(c.env, getPublicOrigin(c), email)
  return c.json({ id: user.id, email: user.email, account_id: user.accountId, link }, 201)
})

/**
 * Operator routes. Two routes have other callers: a runner announces its start, and the service
 * delivers the webhook of a check.
 */
export const operatorRoutes = new Hono<AppEnv>()

operatorRoutes.post("/runner-up", authenticateRunnerStart, async (c) => {
  const { boot } = await readJsonBody(c, z.object({ boot: z.string() }))
  await reportRunnerStartToPools(c.env, boot)
  return c.json({})
})

operatorRoutes.post("/webhook-checks/:token", receiveWebhookCheck)

operatorRoutes.use("*", authenticateOperator)
operatorRoutes.route("/accounts", accountRoutes)
operatorRoutes.route("/health", healthRoutes)
operatorRoutes.route("/keys", keyRoutes)
operatorRoutes.route("/operators", appointmentRoutes)
operatorRoutes.route("/plans", planRoutes)
operatorRoutes.route("/webhook-checks", webhookCheckRoutes)

addMethodNotAllowedRoutes(operatorRoutes)
