import { mkdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import {
  CONTAINERS_BY_CODEC,
  RENDITION_CODECS,
  RENDITION_SIZES,
} from "../../src/contract/tasks/render.ts"
import type { SoundStage } from "../system/media/sound-stage.ts"
import { findWrong } from "./find-wrong.ts"
import type { ExpectedRendition } from "./find-wrong.ts"
import { makeShape } from "./make-shape.ts"
import type { Shape } from "./shape.ts"

const job = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  warnings: z.array(z.looseObject({ code: z.string() })).default([]),
  outputs: z.array(
    z.looseObject({
      url: z.url(),
      codec: z.string().optional(),
      resolution: z.string().optional(),
      duration_seconds: z.number().optional(),
      size_bytes: z.int(),
    }),
  ),
})

const refusal = z.looseObject({ details: z.array(z.looseObject({ code: z.string() })) })

export type RenditionRequest = Pick<ExpectedRendition, "codec" | "size" | "container">

/** Every codec in every size and container that it can have. */
export const ALL_RENDITIONS: readonly RenditionRequest[] = RENDITION_CODECS.flatMap((codec) =>
  RENDITION_SIZES.flatMap((size) =>
    CONTAINERS_BY_CODEC[codec].map((container) => ({ codec, size, container })),
  ),
)

/** Waits for a job at most this often, each time as long as an answer may take. */
const WAITS_MAX = 12

/** Has a service make renditions of a shape; answers what is wrong with them, in words. */
export async function findWrongRenditions(
  stage: SoundStage,
  shape: Shape,
  asked: readonly RenditionRequest[],
): Promise<string[]> {
  const folder = join(stage.folder, shape.name.replaceAll(/\W+/g, "-"))
  await mkdir(folder)
  const source = await stage.upload(await makeShape(folder, shape))
  const answer = await stage.postJson("/transcode", {
    source: `svc_id://${source}`,
    outputs: asked.map(({ codec, size, container }) => ({ codec, resolution: size, container })),
  })
  const body: unknown = await answer.json()
  const accepted = job.safeParse(body)
  if (!accepted.success) {
    const [fault] = refusal.parse(body).details
    return fault?.code === shape.fails ? [] : [`it was answered ${answer.status}: ${fault?.code}`]
  }
  const ended = await untilEnd(stage, accepted.data.id)
  if (ended.status !== "completed" || shape.fails !== undefined) {
    const code = ended.error?.code ?? ended.status
    return code === shape.fails ? [] : [`${code}: ${ended.error?.message}`]
  }
  const found = []
  for (const [index, each] of asked.entries()) {
    const output = ended.outputs[index]
    if (!output) return [`there is no output ${index + 1}`]
    const path = await stage.download(
      output.url,
      join(folder.slice(stage.folder.length + 1), `made-${index}.${each.container}`),
    )
    const { size: bytes } = await stat(path)
    const made = { ...each, path, output, bytes }
    found.push({ ...(await findWrong(shape, made)), asked: each })
  }
  const warnings = ended.warnings
    .map(({ code }) => code)
    // A picture that is smaller than several boxes is made once.
    .filter((code) => code !== "same_rendition")
    .toSorted()
    .join()
  return [
    ...(warnings === (shape.warnings ?? []).join() ? [] : [`warnings: ${warnings}`]),
    ...found.flatMap(({ wrong, asked: { codec, size, container } }) =>
      wrong.map((each) => `${codec} ${size} ${container}: ${each}`),
    ),
    ...wrongTogether(found),
  ]
}

/** Renditions that a player may switch between have their keyframes at the same times. */
function wrongTogether(
  found: { keyframes: number[]; resolution: string; asked: RenditionRequest }[],
): string[] {
  // All times of a WebM are later by what Opus begins before zero.
  const rows = found.map(({ keyframes }) =>
    keyframes.map((time) => (time - (keyframes[0] ?? 0)).toFixed(2)).join(" "),
  )
  const sizes = Map.groupBy(found, ({ asked }) => asked.size)
  return [
    ...(new Set(rows).size <= 1
      ? []
      : [`keyframes are not aligned: ${[...new Set(rows)].join("; ")}`]),
    ...Array.from(
      sizes,
      ([size, of]) => [size, new Set(of.map((each) => each.resolution))] as const,
    )
      .filter(([, resolutions]) => resolutions.size > 1)
      .map(([size, resolutions]) => `${size} is ${[...resolutions].join(" and ")}`),
  ]
}

async function untilEnd(stage: SoundStage, id: string) {
  for (let wait = 0; wait < WAITS_MAX; wait += 1) {
    const found = await stage.readEnd(`/jobs/${id}`, job)
    if (found.status === "completed" || found.status === "failed") return found
  }
  throw new Error(`The job ${id} did not end in time.`)
}
