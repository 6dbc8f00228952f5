import { z } from "zod"
import { readId } from "../../http/collection.ts"
import {
  keyExpiry,
  keyName,
  keyRecord,
  keyScopes,
  notRotatable,
  overlapSeconds,
  tooManyKeys,
  viewKey,
} from "../../http/key-fields.ts"
import { NO_QUERY, operation } from "../../http/operation.ts"
import type { Operation } from "../../http/operation.ts"
import { linkNext, pageOf, pageQuery } from "../../http/paging.ts"
import { notFound } from "../../http/problem.ts"
import { baseUrl, readJson, readOptionalJson } from "../../http/request.ts"
import type { AppContext } from "../../http/request.ts"
import { EXAMPLE_ID } from "../../ids.ts"
import { addKey, rotateKey, withdrawKey } from "../../pipeline/accounts/keys.ts"
import type { MadeKey } from "../../pipeline/accounts/keys.ts"
import { findAccountKey, listAccountKeys } from "../../storage/account-keys.ts"

const PATH = "/keys"
const TITLE = "key"
const FACTS = { tag: "keys", scope: "admin" } as const
const BODY_ERRORS = ["payload_too_large", "request_timeout", "unsupported_media_type"] as const

const newKey = z
  .strictObject({
    name: keyName,
    scopes: keyScopes.default(["read", "write"]),
    expires_at: keyExpiry.default(null),
  })
  .meta({ id: "NewKey" })

const rotation = z.strictObject({ overlap_seconds: overlapSeconds }).meta({ id: "KeyRotation" })

const madeKey = keyRecord
  .extend({ key: z.string().meta({ description: "The key itself, which is shown only here." }) })
  .meta({ id: "MadeKey" })

const made = {
  status: 201 as const,
  description: "The key, which is shown only now.",
  schema: madeKey,
  headers: { Location: "The address of the key's record." },
}

/** The operations of the account's API keys. */
export const keyOperations: Operation[] = [
  operation({
    ...FACTS,
    method: "get",
    path: PATH,
    operationId: "listKeys",
    summary: "List keys, newest first, those that count no more included",
    query: pageQuery,
    answer: {
      status: 200,
      description: "A page of keys.",
      schema: z.array(keyRecord),
      headers: { Link: "The address of the next page, where there may be one." },
    },
    example: { limit: "5" },
    async handle(c, query) {
      const page = pageOf(query)
      const rows = await listAccountKeys(c.get("database"), page)
      return { body: rows.map(viewKey), headers: linkNext(c, PATH, page, rows) }
    },
  }),
  operation({
    ...FACTS,
    method: "post",
    path: PATH,
    operationId: "createKey",
    summary: "Make a key; it is shown once",
    description:
      "`read` allows what only reads, `write` also what makes, changes and deletes, `admin` all, keys and the webhook secret included. Sent twice it makes two keys, since the first cannot be shown again.",
    query: NO_QUERY,
    bodies: {
      "application/json": { schema: newKey, example: { name: "deploy", scopes: ["write"] } },
    },
    answer: made,
    errors: ["key_limit_exceeded", ...BODY_ERRORS],
    async handle(c) {
      const { name, scopes, expires_at: expiresAt } = await readJson(c, newKey)
      const added = await addKey(c.env, c.get("database"), { name, scopes, expiresAt })
      if (!added) throw tooManyKeys()
      return show(c, added)
    },
  }),
  operation({
    ...FACTS,
    method: "get",
    path: `${PATH}/{id}`,
    operationId: "getKey",
    summary: "Get a key's record",
    query: NO_QUERY,
    answer: { status: 200, description: "The record, without the key.", schema: keyRecord },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await findAccountKey(c.get("database"), readId(c, TITLE))
      if (!row) throw notFound(TITLE)
      return { body: viewKey(row) }
    },
  }),
  operation({
    ...FACTS,
    method: "post",
    path: `${PATH}/{id}/rotate`,
    operationId: "rotateKey",
    summary: "Make a key in the place of another, which counts for some time yet",
    description:
      "The new key has the name, the scopes and the life of the old one. The old one counts for `overlap_seconds`, and no longer than it would have.",
    query: NO_QUERY,
    bodies: { "application/json": { schema: rotation, example: { overlap_seconds: 3600 } } },
    isBodyOptional: true,
    answer: made,
    errors: ["not_found", "key_not_rotatable", "key_limit_exceeded", ...BODY_ERRORS],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const id = readId(c, TITLE)
      const { overlap_seconds: seconds } = await readOptionalJson(c, rotation)
      const overlapMs = seconds * 1000
      const rotated = await rotateKey(c.env, c.get("database"), { id, overlapMs })
      if (!rotated) throw notFound(TITLE)
      if ("refusal" in rotated) throw notRotatable(rotated.refusal, rotated.before)
      return show(c, rotated)
    },
  }),
  operation({
    ...FACTS,
    method: "delete",
    path: `${PATH}/{id}`,
    operationId: "revokeKey",
    summary: "Revoke a key, from now on; its record stays",
    query: NO_QUERY,
    answer: { status: 200, description: "It is revoked.", schema: z.object({}) },
    errors: ["not_found"],
    example: { id: EXAMPLE_ID },
    async handle(c) {
      const row = await findAccountKey(c.get("database"), readId(c, TITLE))
      if (!row) throw notFound(TITLE)
      await withdrawKey(c.env, row.id)
      return { body: {} }
    },
  }),
]

function show(c: AppContext, { key, row }: MadeKey) {
  return {
    body: { ...viewKey(row), key },
    headers: { location: `${baseUrl(c)}${PATH}/${row.id}` },
  }
}
