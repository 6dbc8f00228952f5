import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { submitOrders } from "./submitted-jobs.ts"
import type { AcceptedJob, SubmittedJobs } from "./submitted-jobs.ts"

const PICTURE = ["h264", "aac"]

type RenditionOrder = { body: object; ends: Partial<AcceptedJob> }

const created = z.looseObject({ id: z.string() })

/** Submits transcodes of every kind; `onTarget` is told of the first. */
export async function submitRenditions(
  bed: Bed,
  onTarget: (id: string) => void,
): Promise<SubmittedJobs> {
  return await submitOrders("three renditions", makeOrders(bed), {
    submit: async (name, order: RenditionOrder) => await submit(bed, name, order),
    onTarget,
  })
}

function makeOrders(bed: Bed): Record<string, RenditionOrder> {
  const source = `svc_id://${bed.mediaFileId}`
  const h264 = { codec: "h264", resolution: "480p" }
  const vp9 = { codec: "vp9", resolution: "480p", container: "webm" }
  const never = bed.source.url(`/sound/never-${newId()}.wav?size=1000000&seed=5&rate=2000`)
  return {
    "three renditions": {
      body: {
        source,
        outputs: [h264, { ...h264, container: "mov", bitrate_kbps: 100 }, vp9],
        quality_metrics: true,
      },
      ends: { renditions: [PICTURE, PICTURE, ["vp9", "opus"]] },
    },
    "other codecs": {
      body: {
        source,
        outputs: [
          { ...h264, codec: "h265" },
          { ...vp9, codec: "av1" },
        ],
      },
      ends: {
        renditions: [
          ["hevc", "aac"],
          ["av1", "opus"],
        ],
      },
    },
    "no picture": {
      body: {
        source: bed.source.url(`/sound/tone-${newId()}.wav?size=100000&seed=5`),
        outputs: [h264],
      },
      ends: { errorCode: "no_video" },
    },
    "canceled transcode": {
      body: { source: never, outputs: [h264] },
      ends: { errorCode: "canceled" },
    },
  }
}

async function submit(
  bed: Bed,
  name: string,
  { body, ends }: RenditionOrder,
): Promise<AcceptedJob> {
  // Sent again, it is the same job.
  const headers = { "content-type": "application/json", "idempotency-key": newId() }
  const text = JSON.stringify({ ...body, webhook: bed.receiver.url })
  const asked = bed.call("POST", "/transcode", () => ({ body: text, headers }))
  const { id } = await readJson(created, asked)
  return { id, room: "jobs", name, errorCode: null, outputs: {}, ...ends }
}
