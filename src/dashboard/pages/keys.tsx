import { Hono } from "hono"
import { z } from "zod"
import { keyRecord } from "../../http/key-fields.ts"
import { publicOrigin } from "../../http/request.ts"
import { valueOf } from "../api.ts"
import type { ApiAnswer } from "../api.ts"
import { Card } from "../components/card.tsx"
import { Pager } from "../components/pager.tsx"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { nextPage, readListQuery } from "../list-page.ts"
import { readForm } from "../read-form.ts"
import { CreateForm, RotateForm } from "./keys/forms.tsx"
import type { KeyDraft } from "./keys/forms.tsx"
import { KeyTable } from "./keys/key-table.tsx"
import { NewKey } from "./keys/new-key.tsx"
import { newKeyRecord, titleOfKey } from "./keys/record.ts"
import type { NewKeyRecord } from "./keys/record.ts"

/** The keys of the account. */
export const keyPages = new Hono<Pages>()

const DAY_MS = 86_400_000
const KEYS_OF_PAGE = "100"
const EMPTY: KeyDraft = { name: "", scope: "write", days: "" }

keyPages.get("/keys", async (c) => {
  const { query } = readListQuery(c, [])
  query.set("limit", KEYS_OF_PAGE)
  const answer = await c.get("api")(`/keys?${query.toString()}`, z.array(keyRecord))
  const keys = valueOf(answer)
  const facts = {
    title: "API keys",
    section: "keys" as const,
    lead: "Each of your programs should have a key of its own.",
    actions: keys.length > 0 && (
      <a class="button primary" href="/keys/new">
        Create a key
      </a>
    ),
  }
  const content = (
    <>
      <Card>
        <KeyTable keys={keys} />
      </Card>
      <Pager next={nextPage("/keys", answer)} />
    </>
  )
  return await showPage(c, facts, content)
})

keyPages.get("/keys/new", async (c) => await showCreateForm(c, EMPTY, null))

keyPages.post("/keys", async (c) => {
  const { name = "", scope = "", days = "" } = await readForm(c)
  const draft = { name: name.trim(), scope, days }
  const json = { name: draft.name, scopes: [draft.scope], ...expiryOf(draft.days) }
  const answer = await c.get("api")("/keys", newKeyRecord, { method: "POST", json })
  if (!answer.ok) return await showCreateForm(c, draft, answer)
  return await showNewKey(c, answer.value)
})

keyPages.get("/keys/:id/rotate", async (c) => await showRotateForm(c, null))

keyPages.post("/keys/:id/rotate", async (c) => {
  const { overlap_seconds: seconds } = await readForm(c)
  const json = { overlap_seconds: Number(seconds) }
  const path = `/keys/${idOf(c)}/rotate`
  const answer = await c.get("api")(path, newKeyRecord, { method: "POST", json })
  if (!answer.ok) return await showRotateForm(c, answer)
  return await showNewKey(c, answer.value)
})

keyPages.post("/keys/:id/revoke", async (c) => {
  valueOf(await c.get("api")(`/keys/${idOf(c)}`, z.unknown(), { method: "DELETE" }))
  return redirectWith(c, "/keys", "The key is revoked: it is refused from now on.")
})

function idOf(c: PageContext): string {
  return encodeURIComponent(c.req.param("id") ?? "")
}

/** When a key expires that lasts for some days; nothing for one that lasts. */
function expiryOf(days: string): { expires_at?: string } {
  if (days === "") return {}
  if (!/^\d{1,4}$/.test(days)) return { expires_at: days }
  return { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }
}

async function showCreateForm(
  c: PageContext,
  draft: KeyDraft,
  refusal: ApiAnswer<NewKeyRecord> | null,
): Promise<Response> {
  const facts = { title: "Create a key", section: "keys" as const, status: statusOf(refusal) }
  return await showPage(c, facts, <CreateForm draft={draft} refusal={refusal} />)
}

async function showRotateForm(
  c: PageContext,
  refusal: ApiAnswer<NewKeyRecord> | null,
): Promise<Response> {
  const key = valueOf(await c.get("api")(`/keys/${idOf(c)}`, keyRecord))
  const facts = {
    title: `Rotate ${titleOfKey(key)}`,
    section: "keys" as const,
    status: statusOf(refusal),
  }
  return await showPage(c, facts, <RotateForm keyToRotate={key} refusal={refusal} />)
}

/** A form that was refused is shown again with 422, whatever the interface's own status was. */
function statusOf(refusal: ApiAnswer<unknown> | null): 200 | 422 {
  return refusal === null ? 200 : 422
}

async function showNewKey(c: PageContext, made: NewKeyRecord): Promise<Response> {
  const facts = {
    title: `New key: ${titleOfKey(made)}`,
    section: "keys" as const,
    status: 201 as const,
  }
  return await showPage(c, facts, <NewKey made={made} origin={publicOrigin(c)} />)
}
