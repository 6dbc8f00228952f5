import { faultOf } from "../../api.ts"
import type { ApiAnswer } from "../../api.ts"
import { Card } from "../../components/card.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { titleOfKey } from "./record.ts"
import type { KeyRecord, NewKeyRecord } from "./record.ts"

const SCOPE_OPTIONS = [
  ["write", "Read and write: files, jobs, usage"],
  ["read", "Read only"],
  ["admin", "Everything, keys and the webhook secret included"],
] as const

const DAY_SECONDS = 86_400

const EXPIRY_OPTIONS = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const

const OVERLAP_OPTIONS = [
  [String(DAY_SECONDS), "For a day"],
  ["3600", "For an hour"],
  [String(7 * DAY_SECONDS), "For a week"],
  ["0", "Not at all: refuse it at once"],
] as const

type Refusal = ApiAnswer<NewKeyRecord> | null

/** What a form sent, to be shown again. */
export type KeyDraft = { name: string; scope: string; days: string }

/** The form of a new key, again with its faults where it was refused. */
export function CreateForm({ draft, refusal }: { draft: KeyDraft; refusal: Refusal }) {
  return (
    <Card>
      <form method="post" action="/keys" class="form">
        <OtherFault refusal={refusal} fields={["name", "scopes", "expires_at"]} />
        <Field
          label="Name"
          name="name"
          value={draft.name}
          required
          maxlength={100}
          autocomplete="off"
          placeholder="Production server"
          hint="What or who will use it, so that you can tell your keys apart."
          error={faultOf(refusal, "name")}
        />
        <Select
          label="What it may do"
          name="scope"
          options={SCOPE_OPTIONS}
          value={draft.scope}
          error={faultOf(refusal, "scopes")}
        />
        <Select
          label="Expires"
          name="days"
          options={EXPIRY_OPTIONS}
          value={draft.days}
          error={faultOf(refusal, "expires_at")}
        />
        <Actions title="Create the key" />
      </form>
    </Card>
  )
}

/** The form that gives a key a successor. */
export function RotateForm({
  keyToRotate: key,
  refusal,
}: {
  keyToRotate: KeyRecord
  refusal: Refusal
}) {
  return (
    <Card>
      <form method="post" action={`/keys/${key.id}/rotate`} class="form">
        <OtherFault refusal={refusal} fields={["overlap_seconds"]} />
        <p>
          A new key with the name and the scopes of <strong>{titleOfKey(key)}</strong> takes its
          place. The old one goes on for a while, so that your programs can change over.
        </p>
        <Select
          label="How long the old key goes on"
          name="overlap_seconds"
          options={OVERLAP_OPTIONS}
          error={faultOf(refusal, "overlap_seconds")}
        />
        <Actions title="Rotate the key" />
      </form>
    </Card>
  )
}

/** Sends the form, or goes back to the keys. */
function Actions({ title }: { title: string }) {
  return (
    <div class="actions">
      <button type="submit" class="button primary">
        {title}
      </button>
      <a class="button" href="/keys">
        Cancel
      </a>
    </div>
  )
}

/** A refusal that is about none of the fields of the form. */
function OtherFault({ refusal, fields }: { refusal: Refusal; fields: string[] }) {
  if (refusal === null || refusal.ok) return null
  if (fields.some((field) => faultOf(refusal, field) !== null)) return null
  return <Notice tone="bad">{refusal.message}</Notice>
}
