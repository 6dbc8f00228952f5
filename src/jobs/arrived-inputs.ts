import { failureCodeSchema } from "../contract/failure.ts"
import type { Failure } from "../contract/failure.ts"
import type { Env } from "../bindings/env.ts"
import type { ClaimedInput, ClaimedTask } from "../db/jobs/tasks.ts"
import { hydrateJob } from "../db/values/hydrate.ts"
import type { Fault } from "../domain/faults.ts"
import type { JsonKind, ResolvedInput, ValidationContext } from "../kinds/kind.ts"
import { findInputFileFaults } from "../kinds/reference.ts"
import { findJsonKind } from "../kinds/registry.ts"
import { readValidationContext } from "./validation-context.ts"

/**
 * Checks the request of a job again after other jobs have written the outputs that it reads.
 * Returns a failure for faults that only the written files reveal, else null. Returns null for a
 * job that waited for no other job.
 */
export async function findArrivedInputFailure(
  env: Env,
  { snapshot: { job }, inputs }: Pick<ClaimedTask, "snapshot" | "inputs">,
): Promise<Failure | null> {
  const kind = findJsonKind(job.kind)
  if (job.waitingFor === null || !kind) return null
  const [{ request }, deployment] = await Promise.all([
    hydrateJob(env.MEDIA, job),
    readValidationContext(env),
  ])
  const body = request instanceof Object ? request : {}
  const faults = kind.withTypes((typed) => findNewFaults(typed, body, inputs, deployment))
  return toFailure(faults)
}

/**
 * Returns the faults of a request that appear only now that its input files are known. Omits the
 * faults that the request has even without knowledge of these files.
 */
function findNewFaults<Usable>(
  kind: Pick<JsonKind<never, Usable>, "title" | "readUsableFields" | "judge" | "inputField">,
  body: object,
  arrived: readonly ClaimedInput[],
  deployment: ValidationContext,
): Fault[] {
  const usable = kind.readUsableFields(body)
  const inputs = arrived.map(({ key, fileId, file }): ResolvedInput => {
    return { key, field: kind.inputField(key), fileId, file }
  })
  const unknown = inputs.map((input) => ({ ...input, file: null }))
  const before = new Set(kind.judge(usable, unknown, new Set(), deployment).map(identify))
  const now = kind.judge(usable, inputs, new Set(), deployment)
  return [
    ...inputs.flatMap((input) => findInputFileFaults(kind.title, input)),
    ...now.filter((fault) => !before.has(identify(fault))),
  ]
}

function identify({ field, code, message }: Fault): string {
  return JSON.stringify([field, code, message])
}

function toFailure(faults: readonly Fault[]): Failure | null {
  const [first] = faults
  if (!first) return null
  const lines = faults.map(({ field, message }) => `${field}: ${message}`)
  const code = failureCodeSchema.safeParse(first.code).data ?? "invalid_input"
  return { code, message: `The job could not start: ${lines[0]}.`, lines: lines.slice(1) }
}
