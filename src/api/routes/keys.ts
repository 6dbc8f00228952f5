import { z } from "zod"
import { readPathResourceId } from "../output/collection.ts"
import {
  keyExpirySchema,
  keyNameSchema,
  apiKeyRecordSchema,
  keyScopesSchema,
  keyNotRotatableProblem,
  keyRotationOverlapSecondsSchema,
  tooManyKeysProblem,
  toApiKeyRecord,
} from "../output/key-fields.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { makeNextPageLinkHeader, toPageRequest, pageQuerySchema } from "../output/paging.ts"
import { notFoundProblem } from "../output/problem.ts"
import { getBaseUrl, readJsonBody, readOptionalJsonBody } from "../input/request.ts"
import type { AppContext } from "../context.ts"
import { EXAMPLE_ID } from "../../platform/ids.ts"
import { createApiKeyOfAccount, rotateApiKey, revokeApiKey } from "../../accounts/keys.ts"
import type { NewApiKeyWithRow } from "../../accounts/keys.ts"
import { findApiKeyOfAccount, listApiKeysOfAccount } from "../../db/accounts/account-keys.ts"

const PATH = "/keys"
const TITLE = "key"
const FACTS = { tag: "keys", scope: "admin" } as const
const BODY_ERRORS = ["payload_too_large", "request_timeout", "unsupported_media_type"] as const

const newKey = z
  .strictObject({
    name: keyNameSchema,
    scopes: keyScopesSchema.default(["read", "write"]),
    expires_at: keyExpirySchema.default(null),
  })
  .meta({ id: "NewKey" })

const rotation = z
  .strictObject({ overlap_seconds: keyRotationOverlapSecondsSchema })
  .meta({ id: "KeyRotation" })

const madeKey = apiKeyRecordSchema
  .extend({ key: z.string().meta({ description: "The key, which only this answer has." }) })
  .meta({ id: "NewKeyWithRow" })

const newKeyAnswer = {
  status: 201 as const,
  description: "The new key, which only this answer has.",
  schema: madeKey,
  headers: { Location: "URL of the key's record." },
}

export const keyOperations: Operation[] = [
  defineOperation({
    ...FACTS,
    method: "get",
    path: PATH,
    operationId: "listKeys",
    summary: "List keys, newest first, including revoked and expired keys",
    query: pageQuerySchema,
    answer: {
      status: 200,
      description: "A page of keys.",
      schema: z.array(apiKeyRecordSchema),
      headers: { Link: "URL of the next page, if there may be one." },
    },
    example: { limit: "5" },
    async handle(c, query) {
      const page = toPageRequest(query)
      const rows = await listApiKeysOfAccount(c.get("database"), page)
      return {
        body: rows.map(toApiKeyRecord),
        headers: makeNextPageLinkHeader(c, PATH, page, rows),
      }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "post",
    path: PATH,
    operationId: "createKey",
    summary: "Create a key; only this answer shows it",
    description:
      "`read` allows requests that only read, `write` also requests that create, change and delete, `admin` everything, including keys and the webhook secret. A repeated request makes a second key.",
    query: emptyQuerySchema,
    bodies: {
      "application/json": { schema: newKey, example: { name: "deploy", scopes: ["write"] } },
    },
    answer: newKeyAnswer,
    errors: ["key_limit_exceeded", ...BODY_ERRORS],
    async handle(c) {
      const { name, scopes, expires_at: expiresAt } = await readJsonBody(c, newKey)
      const added = await createApiKeyOfAccount(c.env, c.get("database"), {
        name,
        scopes,
        expiresAt,
      })
      if (!added) throw tooManyKeysProblem()
      return show(c, added)
    },
  }),
  defineOperation({
    ...FACTS,
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getKey",
    summary: "Get the record of a key",
    query: emptyQuerySchema,
    answer: {
      status: 200,
      description: "The record, without the key.",
      schema: apiKeyRecordSchema,
    },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await findApiKeyOfAccount(c.get("database"), readPathResourceId(c, TITLE))
      if (!row) throw notFoundProblem(TITLE)
      return { body: toApiKeyRecord(row) }
    },
  }),
  defineOperation({
    ...FACTS,
    method: "post",
    path: `${PATH}/{id}/rotate`,
    operationId: "rotateKey",
    summary: "Rotate a key; the old key stays valid for an overlap",
    description:
      "The new key has the name, the scopes and the length of life of the old key. The old key stays valid for `overlap_seconds`, and never beyond its own expiry.",
    query: emptyQuerySchema,
    bodies: { "application/json": { schema: rotation, example: { overlap_seconds: 3600 } } },
    isBodyOptional: true,
    answer: newKeyAnswer,
    errors: ["not_found", "key_not_rotatable", "key_limit_exceeded", ...BODY_ERRORS],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const id = readPathResourceId(c, TITLE)
      const { overlap_seconds: seconds } = await readOptionalJsonBody(c, rotation)
      const overlapMs = seconds * 1000
      const rotated = await rotateApiKey(c.env, c.get("database"), { id, overlapMs })
      if (!rotated) throw notFoundProblem(TITLE)
      if ("refusal" in rotated) throw keyNotRotatableProblem(rotated.refusal, rotated.before)
      return show(c, rotated)
    },
  }),
  defineOperation({
    ...FACTS,
    method: "delete",
    path: `${PATH}/{id}`,
    operationId: "revokeKey",
    summary: "Revoke a key at once; its record stays",
    query: emptyQuerySchema,
    answer: { status: 200, description: "The key is revoked.", schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await findApiKeyOfAccount(c.get("database"), readPathResourceId(c, TITLE))
      if (!row) throw notFoundProblem(TITLE)
      await revokeApiKey(c.env, row.id)
      return { body: {} }
    },
  }),
]

function show(c: AppContext, { key, row }: NewApiKeyWithRow) {
  return {
    body: { ...toApiKeyRecord(row), key },
    headers: { location: `${getBaseUrl(c)}${PATH}/${row.id}` },
  }
}
