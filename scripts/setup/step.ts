import { CliError } from "../cli/cli-error.ts"

/** Set-up step that installs a program or makes a file if it is missing. `isDone` must be fast. */
export type SetupStep = {
  /** Name of the installed thing, as it follows the word "Installing". */
  name: string
  /** Advice to the user if `make` fails. */
  advice: string
  /**
   * Sentence about the missing thing, if it differs from "Lathe lacks <name>: run `npm run setup`."
   */
  lack?: string
  /** Message during the step, if the step does not install anything. */
  doing?: string
  isDone(): Promise<boolean>
  canMake(): Promise<boolean>
  /** Installs or makes the missing thing. Throws a CliError if that fails. */
  make(): Promise<void>
}

/** Throws a CliError for the first step that is not done. Installs nothing. */
export async function requireSteps(steps: readonly SetupStep[]): Promise<void> {
  for (const step of steps) {
    if (!(await step.isDone())) throw new CliError(lackOf(step))
  }
}

/**
 * Reports whether an optional step is done. If not, prints what is missing and `lack`, which says
 * what does not work. Installs nothing.
 */
export async function reportMissingStep(step: SetupStep, lack: string): Promise<boolean> {
  if (await step.isDone()) return true
  console.error(`${lackOf(step)} ${lack}`)
  return false
}

/**
 * Runs an optional step if it is not done. If it fails, prints the error and `lack`, which says
 * what does not work, and returns false.
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

/**
 * Runs the steps that are not done. Throws a CliError with the advice to the user for a step that
 * cannot be run.
 */
export async function ensureSteps(steps: SetupStep[]): Promise<void> {
  for (const step of steps) {
    if (await step.isDone()) continue
    if (!(await step.canMake())) throw new CliError(step.advice)
    console.error(step.doing ?? `Installing ${step.name} ...`)
    await step.make()
    if (!(await step.isDone())) throw new CliError(step.advice)
  }
}

function lackOf({ name, lack }: SetupStep): string {
  return lack ?? `Lathe lacks ${name}: run \`npm run setup\`.`
}
