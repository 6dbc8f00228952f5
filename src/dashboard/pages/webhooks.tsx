import { Hono } from "hono"
import { z } from "zod"
import { getPublicOrigin } from "../../api/input/request.ts"
import { endpointRecordSchema } from "../../api/routes/webhooks/endpoint-record.ts"
import { deliveryRecordSchema } from "../../api/routes/webhooks/record.ts"
import type { DeliveryRecord } from "../../api/routes/webhooks/record.ts"
import { signingSecretRecordSchema } from "../../api/routes/webhooks/secret.ts"
import { findFieldError, unwrapApiResult } from "../api.ts"
import type { ApiRequestResult } from "../api.ts"
import { Pager } from "../components/pager.tsx"
import { readEncodedPathId } from "../context.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { buildNextPagePath, readDashboardListQuery } from "../list-page.ts"
import { readFormFields } from "../read-form.ts"
import { DeliveryPage } from "./webhooks/delivery.tsx"
import { DELIVERY_FILTER_PARAMETERS, DeliveryList } from "./webhooks/delivery-list.tsx"
import { EndpointCard } from "./webhooks/endpoints.tsx"
import { ActionForm, LinkButton, SubmitButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { Field } from "../components/field.tsx"
import { Notice } from "../components/notice.tsx"
import { CodeBlock } from "../components/code-block.tsx"
import { RelativeTime } from "../components/time.tsx"

/**
 * Pages of the account's webhooks: deliveries with their tries, the signing secret, and test
 * events.
 */
export const webhookPages = new Hono<PageEnv>()

const PATH = "/webhooks"

webhookPages.get(PATH, async (c) => await showWebhooks(c, {}))

webhookPages.post(`${PATH}/secret`, async (c) => await showWebhooks(c, { isSecretShown: true }))

webhookPages.post(`${PATH}/secret/rotate`, async (c) => {
  const path = "/webhooks/secret/rotate"
  unwrapApiResult(await c.get("api")(path, signingSecretRecordSchema, { method: "POST" }))
  const message = "A new secret signs from now on. The old secret also signs for a day."
  return redirectWithMessage(c, PATH, message)
})

webhookPages.post(`${PATH}/test`, async (c) => {
  const { url = "" } = await readFormFields(c)
  const json = { url: url.trim() }
  const answer = await c.get("api")("/webhooks/test", deliveryRecordSchema, {
    method: "POST",
    json,
  })
  if (!answer.ok) return await showWebhooks(c, { refused: { url, answer } })
  return redirectWithMessage(c, `${PATH}/${answer.value.id}`, "The test event is being sent.")
})

webhookPages.get(`${PATH}/:id`, async (c) => {
  const delivery = unwrapApiResult(
    await c.get("api")(`/webhooks/deliveries/${readEncodedPathId(c)}`, deliveryRecordSchema),
  )
  const scripts = ["live.client.js"] as const
  const facts = { title: delivery.type, section: "webhooks" as const, scripts }
  return await showPage(c, facts, <DeliveryPage delivery={delivery} />)
})

webhookPages.post(`${PATH}/:id/replay`, async (c) => {
  const path = `/webhooks/deliveries/${readEncodedPathId(c)}/replay`
  const { id } = unwrapApiResult(await c.get("api")(path, deliveryRecordSchema, { method: "POST" }))
  return redirectWithMessage(c, `${PATH}/${id}`, "The delivery starts a new series of tries.")
})

type WebhooksPageProps = {
  isSecretShown?: boolean
  /** Test event that the API refused, with its URL. */
  refused?: { url: string; answer: ApiRequestResult<DeliveryRecord> }
}

async function showWebhooks(c: PageContext, { isSecretShown = false, refused }: WebhooksPageProps) {
  const { filters, query, isFirstPage } = readDashboardListQuery(c, DELIVERY_FILTER_PARAMETERS)
  const [endpoints, secret, deliveries] = await Promise.all([
    c.get("api")("/webhooks/endpoints", z.array(endpointRecordSchema)),
    c.get("api")("/webhooks/secret", signingSecretRecordSchema),
    c.get("api")(`/webhooks/deliveries?${query.toString()}`, z.array(deliveryRecordSchema)),
  ])
  const content = (
    <>
      <DeliveryList
        deliveries={deliveries}
        filters={filters}
        isFirstPage={isFirstPage}
        origin={getPublicOrigin(c)}
      />
      <Pager next={buildNextPagePath(PATH, deliveries)} />
      <EndpointCard endpoints={unwrapApiResult(endpoints)} />
      <div class="columns">
        <SecretCard secret={unwrapApiResult(secret)} isShown={isSecretShown} />
        <TestForm refused={refused} />
      </div>
    </>
  )
  const facts = {
    title: "Webhooks",
    section: "webhooks" as const,
    lead: "Signed requests to your URLs when a job ends, with retries until they arrive.",
    status: refused ? (422 as const) : (200 as const),
  }
  return await showPage(c, facts, content)
}

type RefusedTest = { url: string; answer: ApiRequestResult<DeliveryRecord> }

/** Form that sends a test event to a URL. */
function TestForm({ refused }: { refused: RefusedTest | undefined }) {
  const answer = refused?.answer ?? null
  const fault = findFieldError(answer, "url")
  return (
    <Card title="Send a test event">
      <p>A signed event of the type webhook.test shows whether your receiver is reachable.</p>
      {answer && !answer.ok && fault === null && <Notice tone="bad">{answer.message}</Notice>}
      <form method="post" action="/webhooks/test" class="form">
        <Field
          label="URL of your receiver"
          name="url"
          type="url"
          value={refused?.url}
          required
          autofocus={fault !== null}
          autocomplete="off"
          placeholder="https://example.com/hooks/lathe"
          error={fault}
        />
        <div class="actions">
          <SubmitButton tone="primary" text="Send a test event" />
        </div>
      </form>
    </Card>
  )
}

const QUESTION = "Make a new secret? The old secret also signs for a day."

/** Card with the secret that signs webhooks. The page contains the secret only after a click. */
function SecretCard(props: {
  secret: z.infer<typeof signingSecretRecordSchema>
  isShown: boolean
}) {
  const { secret, previous_valid_until: previousValidUntil } = props.secret
  return (
    <Card title="Signing secret" id="secret">
      <p>
        Your receiver verifies webhooks of requests with this secret; each endpoint has a secret of
        its own. The signature follows{" "}
        <a href="https://www.standardwebhooks.com" rel="noreferrer">
          Standard Webhooks
        </a>
        , which has libraries for most languages.
      </p>
      {props.isShown ? <CodeBlock label="Signing secret" text={secret} /> : <HiddenSecret />}
      {previousValidUntil !== null && (
        <p class="soft">
          The previous secret is valid until <RelativeTime at={previousValidUntil} />.
        </p>
      )}
      <div class="actions">
        {props.isShown && <LinkButton to="/webhooks" text="Hide the secret" />}
        <ActionForm
          action="/webhooks/secret/rotate"
          tone="danger"
          asks={QUESTION}
          text="Rotate the secret"
        />
      </div>
    </Card>
  )
}

function HiddenSecret() {
  return (
    <form method="post" action="/webhooks/secret#secret" class="actions">
      <code aria-hidden="true">whsec_••••••••••••••••</code>
      <SubmitButton text="Show the secret" />
    </form>
  )
}
