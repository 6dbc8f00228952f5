import { Complaint, runScript } from "./local/complaint.ts"
import { bubblewrap } from "./setup/bubblewrap.ts"
import { ffmpeg } from "./setup/ffmpeg.ts"
import { launcher } from "./setup/launcher.ts"
import type { Step } from "./setup/step.ts"

const steps: Step[] = [ffmpeg, bubblewrap, launcher]

/** Does whatever set-up is still missing; throws a Complaint that says what a person must do. */
export async function ensureSetUp(): Promise<void> {
  for (const step of steps) {
    if (await step.isDone()) continue
    if (!(await step.canMake())) throw new Complaint(step.advice)
    console.error(`Installing ${step.name} ...`)
    await step.make()
    if (!(await step.isDone())) throw new Complaint(step.advice)
  }
}

if (import.meta.main) {
  await runScript(async () => {
    await ensureSetUp()
    console.log("Lathe is set up.")
  })
}
