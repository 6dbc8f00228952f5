import { z } from "zod"
import { makeOpenApiDocument } from "../output/openapi.ts"
import { emptyQuerySchema, defineOperation } from "../output/operation.ts"
import type { Operation } from "../output/operation.ts"
import { JSON_KINDS } from "../../kinds/registry.ts"
import { accountOperations } from "./account.ts"
import { batchOperations } from "./batches/operations.ts"
import { capabilityOperations } from "./capabilities.ts"
import { fetchOperations } from "./fetch.ts"
import { fileOperations } from "./files.ts"
import { healthOperations } from "./health.ts"
import { jobOperations } from "./jobs/operations.ts"
import { keyOperations } from "./keys.ts"
import { makeKindOperations } from "./kind-operations.ts"
import { transcribeOperations } from "./transcribe.ts"
import { uploadLinkOperations } from "./uploads/links.ts"
import { uploadOperations } from "./uploads/operations.ts"
import { endpointOperations } from "./webhooks/endpoints.ts"
import { webhookOperations } from "./webhooks/operations.ts"

let document: Record<string, unknown> | null = null

const contract = defineOperation({
  method: "get",
  path: "/openapi.json",
  operationId: "getOpenApi",
  summary: "Get the OpenAPI document",
  tag: "health",
  isOpen: true,
  query: emptyQuerySchema,
  answer: { status: 200, description: "The OpenAPI document.", schema: z.looseObject({}) },
  handle() {
    document ??= { ...makeOpenApiDocument(OPERATIONS) }
    return { body: document, headers: { "access-control-allow-origin": "*" } }
  },
})

/** All operations of the API, whose paths are below /v1. */
export const OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  contract,
  ...capabilityOperations,
  ...accountOperations,
  ...fileOperations,
  ...uploadOperations,
  ...uploadLinkOperations,
  ...fetchOperations,
  ...transcribeOperations,
  ...JSON_KINDS.flatMap((kind) => kind.withTypes(makeKindOperations)),
  ...jobOperations,
  ...batchOperations,
  ...webhookOperations,
  ...endpointOperations,
  ...keyOperations,
]
