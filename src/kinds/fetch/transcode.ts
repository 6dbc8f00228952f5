import { z } from "zod"
import type { Fault } from "../../domain/faults.ts"
import { REQUEST_FIELDS_IN_COLUMNS } from "../../domain/job-draft.ts"
import {
  commonRequestFieldSchemas,
  optionalPrioritySchema,
  publishFieldSchemas,
  webhookUrlSchema,
} from "../create-fields.ts"
import type { CommonRequestFields } from "../kind.ts"
import { renditionFieldSchemas } from "../renditions/request.ts"
import { findWebhookConflicts } from "../webhook-fields.ts"

/**
 * Schema of the field `transcode` of POST /fetch. The field is like the body of POST /transcode,
 * but the fetched media is the source.
 */
export const fetchTranscodeSchema = z
  .strictObject(
    {
      source: z
        .unknown()
        .optional()
        .meta({ description: "Ignored, because the fetched media is the source." }),
      ...renditionFieldSchemas,
      webhook: commonRequestFieldSchemas.webhook,
      webhook_url: webhookUrlSchema.nullish(),
      metadata: commonRequestFieldSchemas.metadata,
      priority: optionalPrioritySchema,
      expires_in: commonRequestFieldSchemas.expires_in,
      ...publishFieldSchemas,
    },
    "expected an object of fields",
  )
  .meta({
    id: "FetchTranscode",
    description:
      "Renditions to make of the fetched media. Fields of the job may be here or at the top level.",
  })

export type FetchTranscode = z.infer<typeof fetchTranscodeSchema>

const text = z.string().optional().catch(undefined)
const unknownField = z.unknown().optional()

/** Lenient schemas of the fields that every job request has, for bodies that may be invalid. */
export const lenientJobFieldSchemas = {
  webhook: text,
  webhook_url: text,
  metadata: unknownField,
  priority: unknownField,
  expires_in: unknownField,
  publish: unknownField,
}

const usable = z.object(lenientJobFieldSchemas)

/** Valid fields of those that every job request has, from the top level or `transcode`. */
export type ValidJobFields = z.infer<typeof usable>
type NestedJobFields = ValidJobFields & { transcode?: ValidJobFields | undefined }

/** Merges fields such as `priority` from both levels. The top level precedes `transcode`. */
export function mergeJobFields({
  transcode,
  ...outer
}: CommonRequestFields & { transcode?: CommonRequestFields | undefined }): CommonRequestFields {
  return {
    webhook: outer.webhook ?? transcode?.webhook,
    webhook_url: outer.webhook_url ?? transcode?.webhook_url,
    metadata: outer.metadata ?? transcode?.metadata,
    priority: outer.priority ?? transcode?.priority,
    expires_in: outer.expires_in ?? transcode?.expires_in,
    publish: outer.publish ?? transcode?.publish,
  }
}

/** Returns the webhook URLs at the top level and in `transcode`, with the paths of their fields. */
export function listWebhookUrls({
  transcode,
  ...outer
}: NestedJobFields): { field: string; url: string }[] {
  const places = [
    { prefix: "", fields: outer },
    ...(transcode ? [{ prefix: "transcode.", fields: transcode }] : []),
  ]
  return places.flatMap(({ prefix, fields }) =>
    (["webhook", "webhook_url"] as const).flatMap((name) => {
      const url = fields[name]
      return url === undefined ? [] : [{ field: prefix + name, url }]
    }),
  )
}

/**
 * Returns faults of job fields that are set both at the top level and in `transcode`, and of
 * `webhook` set together with `webhook_url`.
 */
export function findJobFieldConflicts(request: NestedJobFields): Fault[] {
  const { transcode } = request
  const doubled = REQUEST_FIELDS_IN_COLUMNS.filter(
    (name) => isSet(request[name]) && isSet(transcode?.[name]),
  )
  const webhook = request.webhook ?? transcode?.webhook
  const webhook_url = request.webhook_url ?? transcode?.webhook_url
  return [
    ...doubled.map((name) => ({
      field: `transcode.${name}`,
      message: "expected this field either in transcode or at the top level, not in both",
    })),
    ...findWebhookConflicts({ webhook, webhook_url }),
  ]
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
