import { z } from "zod"
import { apiKeyRecordSchema } from "../../../api/output/key-fields.ts"

/** Schema of a new API key in the API's response. Only this record contains the key itself. */
export const newApiKeyRecordSchema = apiKeyRecordSchema.extend({ key: z.string() })

export type KeyRecord = z.infer<typeof apiKeyRecordSchema>
export type NewKeyRecord = z.infer<typeof newApiKeyRecordSchema>

/** State of an API key in the list of keys. */
export type KeyState = "active" | "replaced" | "expired" | "revoked"

/** Returns the state of an API key at a given time. A replaced key is valid until it expires. */
export function computeKeyState(key: KeyRecord, nowMs: number): KeyState {
  if (key.revoked_at !== null) return "revoked"
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs) return "expired"
  return key.replaced_by === null ? "active" : "replaced"
}

/** Returns the name of a key, or its first characters if it has no name. */
export function formatKeyTitle({ name, prefix }: KeyRecord): string {
  return name === "" ? `${prefix}…` : name
}
