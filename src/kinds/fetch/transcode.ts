import { z } from "zod"
import type { Fault } from "../../faults.ts"
import { createFields, optionalPriority, webhookUrl } from "../create-fields.ts"
import type { CreateRequest } from "../kind.ts"
import { renditionFields } from "../renditions/request.ts"
import { judgeWebhooks } from "../webhook-fields.ts"

/** The body of POST /transcode as a part of that of POST /fetch, whose media is its source. */
export const fetchTranscode = z
  .strictObject(
    {
      source: z
        .unknown()
        .optional()
        .meta({ description: "Ignored, since the media that is fetched is the source." }),
      ...renditionFields,
      webhook: createFields.webhook,
      webhook_url: webhookUrl.nullish(),
      metadata: createFields.metadata,
      priority: optionalPriority,
      expires_in: createFields.expires_in,
    },
    "expected an object of fields",
  )
  .meta({
    id: "FetchTranscode",
    description:
      "Renditions to make of what is fetched. Fields of the job may stand here or outside.",
  })

export type FetchTranscode = z.infer<typeof fetchTranscode>

const JOB_FIELDS = ["webhook", "webhook_url", "metadata", "priority", "expires_in"] as const

const text = z.string().optional().catch(undefined)
const given = z.unknown().optional()

/** What of the fields of a job can be used, whatever else is wrong with a body. */
export const usableJobFields = {
  webhook: text,
  webhook_url: text,
  metadata: given,
  priority: given,
  expires_in: given,
}

const usable = z.object(usableJobFields)

/** The fields of its job that a request has, and those that its transcode has. */
export type UsableJobFields = z.infer<typeof usable>
type Places = UsableJobFields & { transcode?: UsableJobFields | undefined }

/** The fields of the job of a request, which has each in one place at most. */
export function readCreateFields({
  transcode,
  ...outer
}: CreateRequest & { transcode?: CreateRequest | undefined }): CreateRequest {
  return {
    webhook: outer.webhook ?? transcode?.webhook,
    webhook_url: outer.webhook_url ?? transcode?.webhook_url,
    metadata: outer.metadata ?? transcode?.metadata,
    priority: outer.priority ?? transcode?.priority,
    expires_in: outer.expires_in ?? transcode?.expires_in,
  }
}

/** The URLs to call at the end that a request has in either place, by field. */
export function webhooksIn({ transcode, ...outer }: Places): { field: string; url: string }[] {
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

/** What is wrong with fields of the job that a request has in both places, or in both forms. */
export function judgeJobFields(request: Places): Fault[] {
  const { transcode } = request
  const doubled = JOB_FIELDS.filter((name) => isGiven(request[name]) && isGiven(transcode?.[name]))
  const webhook = request.webhook ?? transcode?.webhook
  const webhook_url = request.webhook_url ?? transcode?.webhook_url
  return [
    ...doubled.map((name) => ({
      field: `transcode.${name}`,
      message: "expected it here or outside of transcode, and not both",
    })),
    ...judgeWebhooks({ webhook, webhook_url }),
  ]
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
