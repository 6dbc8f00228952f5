import { z } from "zod"
import { describeOperations } from "./http/openapi.ts"
import { NO_QUERY, operation } from "./http/operation.ts"
import type { Operation } from "./http/operation.ts"
import { JSON_KINDS } from "./kinds/registry.ts"
import { accountOperations } from "./resources/account/operations.ts"
import { fetchOperations } from "./resources/fetch/operations.ts"
import { fileOperations } from "./resources/files/operations.ts"
import { healthOperations } from "./resources/health/operations.ts"
import { jobOperations } from "./resources/jobs/operations.ts"
import { keyOperations } from "./resources/keys/operations.ts"
import { kindOperations } from "./http/kind-operations.ts"
import { transcribeOperations } from "./resources/transcribe/operations.ts"
import { webhookOperations } from "./resources/webhooks/operations.ts"

let document: Record<string, unknown> | null = null

const contract = operation({
  method: "get",
  path: "/openapi.json",
  operationId: "getOpenApi",
  summary: "This document",
  tag: "health",
  isOpen: true,
  query: NO_QUERY,
  answer: { status: 200, description: "The OpenAPI document.", schema: z.looseObject({}) },
  handle() {
    document ??= { ...describeOperations(OPERATIONS) }
    return { body: document, headers: { "access-control-allow-origin": "*" } }
  },
})

/** Every operation of /v1. */
export const OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  contract,
  ...accountOperations,
  ...fileOperations,
  ...fetchOperations,
  ...transcribeOperations,
  ...JSON_KINDS.flatMap((kind) => kind.withTypes(kindOperations)),
  ...jobOperations,
  ...webhookOperations,
  ...keyOperations,
]
