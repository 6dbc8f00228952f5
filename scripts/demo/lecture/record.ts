import { z } from "zod"

const lectureJob = z.object({
  status: z.enum(["queued", "processing", "completed", "failed"]),
  progress: z.number().nullable(),
  needs: z.array(z.string()),
  started_at: z.iso.datetime().nullable(),
  completed_at: z.iso.datetime().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  outputs: z.record(z.string(), z.object({ name: z.string(), url: z.url(), size_bytes: z.int() })),
})

/** Record of a batch, with the fields that the demonstration shows. */
export const lectureRecordSchema = z.object({
  id: z.string(),
  status: z.enum(["running", "success", "failed"]),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
  progress: z.number(),
  jobs: z.record(z.string(), lectureJob),
})

export type LectureJob = z.infer<typeof lectureJob>
export type LectureRecord = z.infer<typeof lectureRecordSchema>
