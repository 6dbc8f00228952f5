import { z } from "zod"
import { apiKeyRecordSchema } from "../../../api/output/key-fields.ts"

/** Schema of a new API key in the API's response. No other record contains the full key. */
export const newApiKeyRecordSchema = apiKeyRecordSchema.extend({ key: z.string() })

export type ApiKeyPageRecord = z.infer<typeof apiKeyRecordSchema>
export type NewApiKeyRecord = z.infer<typeof newApiKeyRecordSchema>

/** State of an API key in the list of keys. */
export type ApiKeyState = "active" | "replaced" | "expired" | "revoked"

/** Returns the state of an API key at a given time. A replaced key is valid until it expires. */
export function computeApiKeyState(key: ApiKeyPageRecord, nowMs: number): ApiKeyState {
  if (key.revoked_at !== null) return "revoked"
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs) return "expired"
  return key.replaced_by === null ? "active" : "replaced"
}

/** Returns the name of an API key; for a key without a name, the key's first characters. */
export function formatApiKeyTitle({ name, prefix }: ApiKeyPageRecord): string {
  return name === "" ? `${prefix}…` : name
}
