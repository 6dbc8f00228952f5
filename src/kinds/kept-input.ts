import { z } from "zod"

/** What a job of one input keeps in its request of the File that it is. */
export const keptInput = z.object({ file_id: z.uuid() })

/** The request of a job once more, whose input may come anew as another File. */
export function withNewInput(request: unknown, newIds: ReadonlyMap<string, string>): unknown {
  const kept = z.looseObject(keptInput.shape).parse(request)
  return { ...kept, file_id: newIds.get(kept.file_id) ?? kept.file_id }
}
