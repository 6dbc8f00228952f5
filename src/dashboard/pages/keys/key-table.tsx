import { StatusBadge } from "../../components/badge.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { stateOfKey, titleOfKey } from "./record.ts"
import type { KeyRecord } from "./record.ts"

const COLUMNS = ["Name", "Key", "Scopes", "Created", "Last used", "Expires", "State", "Actions"]

/** The keys of an account, and what can be done about each. */
export function KeyTable({ keys }: { keys: readonly KeyRecord[] }) {
  const now = Date.now()
  return (
    <Table
      caption="API keys"
      columns={COLUMNS}
      rows={keys.map((key) => cellsOf(key, now))}
      empty={
        <EmptyState title="There is no key yet">
          <p>A key lets your programs use the interface in the name of this account.</p>
          <p>
            <a class="button primary" href="/keys/new">
              Create a key
            </a>
          </p>
        </EmptyState>
      }
    />
  )
}

function cellsOf(key: KeyRecord, now: number) {
  const state = stateOfKey(key, now)
  return [
    key.name === "" ? <span class="soft">without a name</span> : key.name,
    <code class="nowrap">{key.prefix}…</code>,
    key.scopes.join(", "),
    <Time at={key.created_at} />,
    <Time at={key.last_used_at} />,
    <Time at={key.expires_at} />,
    <StatusBadge status={state} />,
    state === "active" || state === "replaced" ? (
      <KeyActions keyOfRow={key} isReplaced={state === "replaced"} />
    ) : null,
  ]
}

function KeyActions({ keyOfRow: key, isReplaced }: { keyOfRow: KeyRecord; isReplaced: boolean }) {
  const title = titleOfKey(key)
  return (
    <>
      {!isReplaced && (
        <a class="button quiet" href={`/keys/${key.id}/rotate`}>
          Rotate<span class="visually-hidden"> {title}</span>
        </a>
      )}
      <form method="post" action={`/keys/${key.id}/revoke`}>
        <button
          type="submit"
          class="button danger"
          data-confirm={`Revoke the key ${title}? Programs that use it are refused from then on.`}
        >
          Revoke<span class="visually-hidden"> {title}</span>
        </button>
      </form>
    </>
  )
}
