import { formatTable } from "../local/table.ts"
import type { ListedKey } from "./operator.ts"

const HEADINGS = [
  "ID",
  "KEY",
  "ACCOUNT",
  "PLAN",
  "NAME",
  "SCOPES",
  "CREATED",
  "LAST USE",
  "EXPIRES",
  "REVOKED",
]

/** Keys as a table with a heading; what is not there is a dash. */
export function formatKeys(keys: ListedKey[]): string {
  return formatTable([HEADINGS, ...keys.map(rowOf)])
}

function rowOf(key: ListedKey): string[] {
  const { id, prefix, account, plan, name, scopes, created_at } = key
  const moments = [created_at, key.last_used_at, key.expires_at, key.revoked_at]
  return [
    id,
    `${prefix}…`,
    account,
    plan,
    name || "-",
    scopes.join(","),
    ...moments.map((moment) => moment ?? "-"),
  ]
}
