import { z } from "zod"

/** Schema of a stored request that has one input, with the id of the input's File. */
export const storedInputSchema = z.object({ file_id: z.uuid() })

/**
 * Returns the stored request for a retry of a job. If the retry imports the file again, the file
 * has a new id, which replaces the old id in the request. `newIds` maps old ids to new ids.
 */
export function replaceStoredInputFileId(
  request: unknown,
  newIds: ReadonlyMap<string, string>,
): unknown {
  const storedRequest = z.looseObject(storedInputSchema.shape).parse(request)
  return { ...storedRequest, file_id: newIds.get(storedRequest.file_id) ?? storedRequest.file_id }
}
