import { Hono } from "hono"
import { z } from "zod"
import { apiKeyRecordSchema } from "../../api/output/key-fields.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import { unwrapApiResult } from "../api.ts"
import type { ApiRequestResult } from "../api.ts"
import { ActionForm, LinkButton } from "../components/buttons.tsx"
import { Card } from "../components/card.tsx"
import { Pager } from "../components/pager.tsx"
import { readEncodedPathId } from "../context.ts"
import type { PageContext, PageEnv } from "../context.ts"
import { redirectWithMessage } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { buildNextPagePath, readDashboardListQuery } from "../list-page.ts"
import { readFormFields } from "../read-form.ts"
import { CreateApiKeyForm, RotateApiKeyForm } from "./keys/forms.tsx"
import type { ApiKeyFormValues } from "./keys/forms.tsx"
import { newApiKeyRecordSchema, computeApiKeyState, formatApiKeyTitle } from "./keys/record.ts"
import type { ApiKeyPageRecord, NewApiKeyRecord } from "./keys/record.ts"
import { CodeBlock } from "../components/code-block.tsx"
import { Notice } from "../components/notice.tsx"
import { StatusBadge } from "../components/badge.tsx"
import { EmptyState } from "../components/empty-state.tsx"
import { Table } from "../components/table.tsx"
import { RelativeTime } from "../components/time.tsx"

/** Pages of the account's API keys: a list, and forms to create and rotate a key. */
export const keyPages = new Hono<PageEnv>()

const DAY_MS = 86_400_000
const KEYS_OF_PAGE = "100"
const EMPTY: ApiKeyFormValues = { name: "", scope: "write", days: "" }

keyPages.get("/keys", async (c) => {
  const { query } = readDashboardListQuery(c, [])
  query.set("limit", KEYS_OF_PAGE)
  const answer = await c.get("api")(`/keys?${query.toString()}`, z.array(apiKeyRecordSchema))
  const keys = unwrapApiResult(answer)
  const facts = {
    title: "API keys",
    section: "keys" as const,
    lead: "Give each of your programs its own key.",
    actions: keys.length > 0 && <LinkButton to="/keys/new" tone="primary" text="Create a key" />,
  }
  const content = (
    <>
      <Card>
        <KeyTable keys={keys} />
      </Card>
      <Pager next={buildNextPagePath("/keys", answer)} />
    </>
  )
  return await showPage(c, facts, content)
})

keyPages.get("/keys/new", async (c) => await showCreateForm(c, EMPTY, null))

keyPages.post("/keys", async (c) => {
  const { name = "", scope = "", days = "" } = await readFormFields(c)
  const draft = { name: name.trim(), scope, days }
  const json = { name: draft.name, scopes: [draft.scope], ...expiryOf(draft.days) }
  const answer = await c.get("api")("/keys", newApiKeyRecordSchema, { method: "POST", json })
  if (!answer.ok) return await showCreateForm(c, draft, answer)
  return await showNewKey(c, answer.value)
})

keyPages.get("/keys/:id/rotate", async (c) => await showRotateForm(c, null))

keyPages.post("/keys/:id/rotate", async (c) => {
  const { overlap_seconds: seconds } = await readFormFields(c)
  const json = { overlap_seconds: Number(seconds) }
  const path = `/keys/${readEncodedPathId(c)}/rotate`
  const answer = await c.get("api")(path, newApiKeyRecordSchema, { method: "POST", json })
  if (!answer.ok) return await showRotateForm(c, answer)
  return await showNewKey(c, answer.value)
})

keyPages.post("/keys/:id/revoke", async (c) => {
  unwrapApiResult(
    await c.get("api")(`/keys/${readEncodedPathId(c)}`, z.unknown(), { method: "DELETE" }),
  )
  return redirectWithMessage(c, "/keys", "The key is revoked and refused from now on.")
})

/**
 * Returns the expiry of an API key that is valid for a number of days; none for a key that never
 * expires.
 */
function expiryOf(days: string): { expires_at?: string } {
  if (days === "") return {}
  if (!/^\d{1,4}$/.test(days)) return { expires_at: days }
  return { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }
}

async function showCreateForm(
  c: PageContext,
  draft: ApiKeyFormValues,
  refusal: ApiRequestResult<NewApiKeyRecord> | null,
): Promise<Response> {
  const facts = { title: "Create a key", section: "keys" as const, status: statusOf(refusal) }
  return await showPage(c, facts, <CreateApiKeyForm draft={draft} refusal={refusal} />)
}

async function showRotateForm(
  c: PageContext,
  refusal: ApiRequestResult<NewApiKeyRecord> | null,
): Promise<Response> {
  const key = unwrapApiResult(
    await c.get("api")(`/keys/${readEncodedPathId(c)}`, apiKeyRecordSchema),
  )
  const facts = {
    title: `Rotate ${formatApiKeyTitle(key)}`,
    section: "keys" as const,
    status: statusOf(refusal),
  }
  return await showPage(c, facts, <RotateApiKeyForm keyToRotate={key} refusal={refusal} />)
}

/** Returns the HTTP status of a page with a form: 422 after any error of the API. */
function statusOf(refusal: ApiRequestResult<unknown> | null): 200 | 422 {
  return refusal === null ? 200 : 422
}

async function showNewKey(c: PageContext, newKey: NewApiKeyRecord): Promise<Response> {
  const facts = {
    title: `New key: ${formatApiKeyTitle(newKey)}`,
    section: "keys" as const,
    status: 201 as const,
  }
  return await showPage(c, facts, <NewKey made={newKey} origin={getPublicOrigin(c)} />)
}

/** New API key, which is shown only once, with an example request. */
function NewKey({ made, origin }: { made: NewApiKeyRecord; origin: string }) {
  return (
    <>
      <Notice tone="busy">
        <p>
          <strong>Copy the key now.</strong> The service stores only its hash and cannot show it
          again.
        </p>
      </Notice>
      <Card title="Your key">
        <CodeBlock label="The new key" text={made.key} />
      </Card>
      <Card title="Try the key">
        <CodeBlock
          label="A request with the new key"
          text={`curl ${origin}/v1/account \\\n  -H "x-api-key: ${made.key}"`}
        />
        <p>
          <LinkButton to="/keys" tone="primary" text="I have stored the key" />
        </p>
      </Card>
    </>
  )
}

const COLUMNS = ["Name", "Key", "Scopes", "Created", "Last used", "Expires", "State", "Actions"]

/** Table of API keys with buttons to rotate and revoke them. */
function KeyTable({ keys }: { keys: readonly ApiKeyPageRecord[] }) {
  const now = Date.now()
  return (
    <Table
      caption="API keys"
      columns={COLUMNS}
      rows={keys.map((key) => cellsOf(key, now))}
      empty={
        <EmptyState title="No keys yet">
          <p>A key lets your programs use the API for this account.</p>
          <p>
            <LinkButton to="/keys/new" tone="primary" text="Create a key" />
          </p>
        </EmptyState>
      }
    />
  )
}

function cellsOf(key: ApiKeyPageRecord, now: number) {
  const state = computeApiKeyState(key, now)
  return [
    key.name === "" ? <span class="soft">without a name</span> : key.name,
    <code class="nowrap">{key.prefix}…</code>,
    key.scopes.join(", "),
    <RelativeTime at={key.created_at} />,
    <RelativeTime at={key.last_used_at} />,
    <RelativeTime at={key.expires_at} />,
    <StatusBadge status={state} />,
    state === "active" || state === "replaced" ? (
      <KeyActions keyOfRow={key} isReplaced={state === "replaced"} />
    ) : null,
  ]
}

function KeyActions({
  keyOfRow: key,
  isReplaced,
}: {
  keyOfRow: ApiKeyPageRecord
  isReplaced: boolean
}) {
  const title = formatApiKeyTitle(key)
  return (
    <>
      {!isReplaced && (
        <LinkButton to={`/keys/${key.id}/rotate`} tone="quiet">
          Rotate<span class="visually-hidden"> {title}</span>
        </LinkButton>
      )}
      <ActionForm
        action={`/keys/${key.id}/revoke`}
        tone="danger"
        asks={`Revoke the key ${title}? Programs that use it are refused at once.`}
      >
        Revoke<span class="visually-hidden"> {title}</span>
      </ActionForm>
    </>
  )
}
