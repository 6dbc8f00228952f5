import { z } from "zod"

/** A number that a site said; what is none, or not finite, counts as not said. */
const said = z.number().nullish().catch(null)

const info = z.object({ kind: z.literal("info"), title: z.string().nullish(), duration: said })

const progress = z.object({
  kind: z.literal("progress"),
  fraction: z.number().min(0).max(1).catch(0),
  eta: said,
})

const done = z.object({
  kind: z.literal("done"),
  title: z.string().nullish(),
  duration: said,
  /** Name of its file in the workspace. */
  media: z.string().optional(),
  subtitles: z
    .array(z.object({ index: z.int().nonnegative(), language: z.string(), name: z.string() }))
    .default([]),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

const error = z.object({
  kind: z.literal("error"),
  /** A code of the driver's own, where it refused what it found. */
  refusal: z.string().optional(),
  facts: z.record(z.string(), z.unknown()).default({}),
  /** Names of the exception's classes, the outermost first. */
  types: z.array(z.string()).default([]),
  /** Of the answer of the site, or of the proxy where `isRefused`. */
  status: z.int().nullish(),
  isRefused: z.boolean().default(false),
  isRedirectLoop: z.boolean().default(false),
  message: z.string(),
  lines: z.array(z.string()).default([]),
})

const line = z.discriminatedUnion("kind", [info, progress, done, error])

export type DriverLine = z.infer<typeof line>
export type DriverDone = z.infer<typeof done>
export type DriverError = z.infer<typeof error>

/** A line of the driver; null where it is none. */
export function readDriverLine(text: string): DriverLine | null {
  try {
    return line.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
