import { Hono } from "hono"
import { z } from "zod"
import {
  endpointRecordSchema,
  createdEndpointRecordSchema,
} from "../../../api/routes/webhooks/endpoint-record.ts"
import type { EndpointRecord } from "../../../api/routes/webhooks/endpoint-record.ts"
import { deliveryRecordSchema } from "../../../api/routes/webhooks/record.ts"
import { signingSecretRecordSchema } from "../../../api/routes/webhooks/secret.ts"
import { findFieldError, unwrapApiResult } from "../../api.ts"
import type { ApiRequestResult } from "../../api.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { ActionForm, LinkButton, SubmitButton } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { CodeBlock } from "../../components/code-block.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { readEncodedPathId } from "../../context.ts"
import type { PageContext, PageEnv } from "../../context.ts"
import { redirectWithMessage } from "../../flash.ts"
import { showPage } from "../../layout.tsx"
import { readFormFields } from "../../read-form.ts"

/**
 * Pages that add and change webhook endpoints of the account. The page of webhooks lists the
 * endpoints.
 */
export const endpointPages = new Hono<PageEnv>()

const PATH = "/webhooks/endpoints"
const LIST = "/webhooks"

type Draft = { url: string; events: string; description: string }

endpointPages.get(`${PATH}/new`, async (c) => {
  return await showForm(c, { url: "", events: "*", description: "" }, null)
})

endpointPages.post(PATH, async (c) => {
  const { url = "", events = "", description = "" } = await readFormFields(c)
  const draft = { url: url.trim(), events: events.trim(), description: description.trim() }
  const json = { ...draft, events: draft.events.split(/[\s,]+/).filter(Boolean) }
  const answer = await c.get("api")(PATH, createdEndpointRecordSchema, { method: "POST", json })
  if (!answer.ok) return await showForm(c, draft, answer)
  return await showSecret(c, answer.value.secret, "New endpoint", 201)
})

endpointPages.post(`${PATH}/:id/secret`, async (c) => {
  const { secret } = unwrapApiResult(
    await c.get("api")(`${PATH}/${readEncodedPathId(c)}/secret`, signingSecretRecordSchema),
  )
  return await showSecret(c, secret, "Secret of an endpoint", 200)
})

for (const [verb, enabled, message] of [
  ["enable", true, "The endpoint gets events from now on."],
  ["disable", false, "The endpoint gets no events from now on."],
] as const) {
  endpointPages.post(`${PATH}/:id/${verb}`, async (c) => {
    const init = { method: "PATCH", json: { enabled } }
    unwrapApiResult(
      await c.get("api")(`${PATH}/${readEncodedPathId(c)}`, endpointRecordSchema, init),
    )
    return redirectWithMessage(c, LIST, message)
  })
}

endpointPages.post(`${PATH}/:id/delete`, async (c) => {
  unwrapApiResult(
    await c.get("api")(`${PATH}/${readEncodedPathId(c)}`, z.unknown(), { method: "DELETE" }),
  )
  return redirectWithMessage(c, LIST, "The endpoint is deleted.")
})

endpointPages.post(`${PATH}/:id/test`, async (c) => {
  const path = `${PATH}/${readEncodedPathId(c)}/test`
  const { id } = unwrapApiResult(await c.get("api")(path, deliveryRecordSchema, { method: "POST" }))
  return redirectWithMessage(c, `${LIST}/${id}`, "The test event is on its way.")
})

async function showForm(
  c: PageContext,
  draft: Draft,
  refusal: ApiRequestResult<unknown> | null,
): Promise<Response> {
  const status = refusal === null ? (200 as const) : (422 as const)
  const facts = { title: "Add an endpoint", section: "webhooks" as const, status }
  return await showPage(c, facts, <EndpointForm draft={draft} refusal={refusal} />)
}

async function showSecret(c: PageContext, secret: string, title: string, status: 200 | 201) {
  const facts = { title, section: "webhooks" as const, status }
  return await showPage(
    c,
    facts,
    <Card title="Signing secret">
      <p>Your receiver verifies the events of this endpoint by its own secret.</p>
      <CodeBlock label="Signing secret of the endpoint" text={secret} />
      <LinkButton to={LIST} tone="primary" text="Back to the webhooks" />
    </Card>,
  )
}

/** Table of webhook endpoints with buttons to test, disable and delete them. */
export function EndpointCard({ endpoints }: { endpoints: readonly EndpointRecord[] }) {
  const add = <LinkButton to={`${PATH}/new`} text="Add an endpoint" />
  return (
    <Card title="Endpoints" id="endpoints" actions={endpoints.length > 0 && add}>
      <Table
        caption="Endpoints"
        columns={["Receiver", "Events", "Description", "Created", "State", "Actions"]}
        rows={endpoints.map(cellsOf)}
        empty={
          <EmptyState title="There is no endpoint yet">
            <p>An endpoint gets the events of all jobs, without a webhook in each request.</p>
            <p>{add}</p>
          </EmptyState>
        }
      />
    </Card>
  )
}

function cellsOf(endpoint: EndpointRecord) {
  const { url, events, description, enabled, gone_at: goneAt, created_at } = endpoint
  return [
    <span title={url}>{URL.parse(url)?.host ?? url}</span>,
    events.join(", "),
    description === "" ? <span class="soft">–</span> : description,
    <RelativeTime at={created_at} />,
    <>
      <StatusBadge status={enabled ? "active" : "disabled"} />
      {goneAt !== null && <span class="soft"> since the receiver answered 410</span>}
    </>,
    <EndpointActions endpoint={endpoint} />,
  ]
}

function EndpointActions({ endpoint }: { endpoint: EndpointRecord }) {
  const { id, url, enabled } = endpoint
  const name = <span class="visually-hidden"> {url}</span>
  const path = `${PATH}/${id}`
  return (
    <>
      <ActionForm action={`${path}/test`}>Test{name}</ActionForm>
      <ActionForm action={`${path}/secret`}>Secret{name}</ActionForm>
      <ActionForm action={`${path}/${enabled ? "disable" : "enable"}`}>
        {enabled ? "Turn off" : "Turn on"}
        {name}
      </ActionForm>
      <ActionForm
        action={`${path}/delete`}
        tone="danger"
        asks={`Delete the endpoint ${url}? Webhooks that still wait for it are not sent.`}
      >
        Delete{name}
      </ActionForm>
    </>
  )
}

const FIELDS = ["url", "events", "description"]

function EndpointForm({
  draft,
  refusal,
}: {
  draft: Draft
  refusal: ApiRequestResult<unknown> | null
}) {
  const isOther = FIELDS.every((field) => findFieldError(refusal, field) === null)
  return (
    <Card>
      <form method="post" action={PATH} class="form">
        {refusal && !refusal.ok && isOther && <Notice tone="bad">{refusal.message}</Notice>}
        <Field
          label="URL of your receiver"
          name="url"
          type="url"
          value={draft.url}
          required
          autocomplete="off"
          placeholder="https://example.com/hooks/lathe"
          error={findFieldError(refusal, "url")}
        />
        <Field
          label="Events"
          name="events"
          value={draft.events}
          required
          autocomplete="off"
          hint="Types by commas, such as command.succeeded, fetch.* or *.failed; * stands for all."
          error={findFieldError(refusal, "events")}
        />
        <Field
          label="Description"
          name="description"
          value={draft.description}
          maxlength={200}
          autocomplete="off"
          error={findFieldError(refusal, "description")}
        />
        <div class="actions">
          <SubmitButton tone="primary" text="Add the endpoint" />
          <LinkButton to={LIST} text="Cancel" />
        </div>
      </form>
    </Card>
  )
}
