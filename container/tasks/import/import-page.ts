import type { ImportResult, ImportWork } from "../../../src/contract/tasks/import.ts"
import { callerFailure } from "../../failures.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"

export async function importPage(
  _context: RunContext,
  _work: ImportWork,
): Promise<TaskOutcome<ImportResult>> {
  return await Promise.resolve(callerFailure("unsupported_site", "Pages cannot be imported yet."))
}
