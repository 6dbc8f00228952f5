import { CliError } from "../local/cli-error.ts"

/** Something that is installed where it is missing; `isDone` must be quick. */
export type SetupStep = {
  /** What is installed, as it reads after "Installing". */
  name: string
  /** What a person can do where `make` cannot. */
  advice: string
  isDone(): Promise<boolean>
  canMake(): Promise<boolean>
  /** Throws a CliError where it fails. */
  make(): Promise<void>
}

/**
 * Does a step that the service can do without, and answers whether it is done; where it is not, it
 * says what does not work then.
 */
export async function tryStep(step: SetupStep, lack: string): Promise<boolean> {
  try {
    await ensureSteps([step])
    return true
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    console.error(`${error.message}\n${lack}`)
    return false
  }
}

/** Does the steps that are not done; throws a CliError that says what a person must do. */
export async function ensureSteps(steps: SetupStep[]): Promise<void> {
  for (const step of steps) {
    if (await step.isDone()) continue
    if (!(await step.canMake())) throw new CliError(step.advice)
    console.error(`Installing ${step.name} ...`)
    await step.make()
    if (!(await step.isDone())) throw new CliError(step.advice)
  }
}
