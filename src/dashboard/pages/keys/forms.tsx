import { findFieldError } from "../../api.ts"
import type { ApiRequestResult } from "../../api.ts"
import { LinkButton, SubmitButton } from "../../components/buttons.tsx"
import { Card } from "../../components/card.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { formatApiKeyTitle } from "./record.ts"
import type { ApiKeyPageRecord, NewApiKeyRecord } from "./record.ts"

const SCOPE_OPTIONS = [
  ["write", "Read and write: files, jobs, usage"],
  ["read", "Read only"],
  ["admin", "Everything, including keys and the webhook secret"],
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
  ["0", "No overlap: refuse the old key at once"],
] as const

type Refusal = ApiRequestResult<NewApiKeyRecord> | null

/**
 * Submitted values of the form for a new API key. After an error, the form shows the values again.
 */
export type ApiKeyFormValues = { name: string; scope: string; days: string }

/**
 * Form for a new API key. After an error, the form shows the submitted values with their errors.
 */
export function CreateApiKeyForm({
  draft,
  refusal,
}: {
  draft: ApiKeyFormValues
  refusal: Refusal
}) {
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
          hint="Name of the program or person that uses the key."
          error={findFieldError(refusal, "name")}
        />
        <Select
          label="Rights"
          name="scope"
          options={SCOPE_OPTIONS}
          value={draft.scope}
          error={findFieldError(refusal, "scopes")}
        />
        <Select
          label="Expires"
          name="days"
          options={EXPIRY_OPTIONS}
          value={draft.days}
          error={findFieldError(refusal, "expires_at")}
        />
        <Actions title="Create the key" />
      </form>
    </Card>
  )
}

/** Form that rotates an API key. After an overlap, a new key replaces the old key. */
export function RotateApiKeyForm({
  keyToRotate: key,
  refusal,
}: {
  keyToRotate: ApiKeyPageRecord
  refusal: Refusal
}) {
  return (
    <Card>
      <form method="post" action={`/keys/${key.id}/rotate`} class="form">
        <OtherFault refusal={refusal} fields={["overlap_seconds"]} />
        <p>
          A new key with the name and the scopes of <strong>{formatApiKeyTitle(key)}</strong>{" "}
          replaces it. The old key stays valid for an overlap, so that your programs can change
          over.
        </p>
        <Select
          label="Overlap of the old key"
          name="overlap_seconds"
          options={OVERLAP_OPTIONS}
          error={findFieldError(refusal, "overlap_seconds")}
        />
        <Actions title="Rotate the key" />
      </form>
    </Card>
  )
}

/** Button that submits the form, and link back to the list of API keys. */
function Actions({ title }: { title: string }) {
  return (
    <div class="actions">
      <SubmitButton tone="primary">{title}</SubmitButton>
      <LinkButton to="/keys" text="Cancel" />
    </div>
  )
}

/** Notice for an error that concerns none of the form's fields. */
function OtherFault({ refusal, fields }: { refusal: Refusal; fields: string[] }) {
  if (refusal === null || refusal.ok) return null
  if (fields.some((field) => findFieldError(refusal, field) !== null)) return null
  return <Notice tone="bad">{refusal.message}</Notice>
}
