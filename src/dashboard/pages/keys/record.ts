import { z } from "zod"
import { keyRecord } from "../../../http/key-fields.ts"

/** A key that was just made: the only time that it is seen whole. */
export const newKeyRecord = keyRecord.extend({ key: z.string() })

export type KeyRecord = z.infer<typeof keyRecord>
export type NewKeyRecord = z.infer<typeof newKeyRecord>

export type KeyState = "active" | "replaced" | "expired" | "revoked"

/** What has become of a key at a moment; one that was replaced counts until it expires. */
export function stateOfKey(key: KeyRecord, nowMs: number): KeyState {
  if (key.revoked_at !== null) return "revoked"
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs) return "expired"
  return key.replaced_by === null ? "active" : "replaced"
}

/** What a person calls a key. */
export function titleOfKey({ name, prefix }: KeyRecord): string {
  return name === "" ? `${prefix}…` : name
}
