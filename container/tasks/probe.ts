import { PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import { probeTask } from "../../src/contract/tasks/probe.ts"
import type { ProbeTaskResult, ProbeWork } from "../../src/contract/tasks/probe.ts"
import { callerFailure } from "../failures.ts"
import { damageWarning, findDamageLine } from "../tools/damage.ts"
import { fitProbe } from "../tools/fit-probe.ts"
import { probeByEnds } from "./probe-ends.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"
import { downloadInput, probeInput } from "./single-input.ts"

export const probe = { definition: probeTask, run: runProbeTask }

/** Probes the one input; a file that is not media fails for good, unless the probe is optional. */
async function runProbeTask(
  context: RunContext,
  work: ProbeWork,
): Promise<TaskOutcome<ProbeTaskResult>> {
  const probed =
    (await probeByEnds(context)) ??
    (await probeInput(context, await downloadInput(context, "A probe")))
  if ("probe" in probed) {
    const line = findDamageLine(probed.complaints, [probed.probe.format_name])
    const warnings = line === null ? [] : [damageWarning(null, line)]
    const probe = fitProbe(probed.probe, PROBES_BYTES_MAX)
    return { result: { kind: "probe", probe, warnings } }
  }
  const message = `This is not a media file that can be read: ${probed.reason}.`
  if (work.is_optional) return { result: { kind: "probe", probe_error: message } }
  return callerFailure("probe_failed", message, probed.lines)
}
