import { CliError } from "../cli/cli-error.ts"

/**
 * Set-up step that installs a program or makes a file. `isDone` reports whether the program or file
 * exists, and must be fast.
 */
export type SetupStep = {
  /**
   * Name of the program or file that the step installs, which follows "Installing" in the progress
   * message.
   */
  name: string
  /** Advice to the user if `make` fails. */
  advice: string
  /**
   * Sentence that replaces "Lathe lacks <name>: run `npm run setup`." if the program or file is
   * missing.
   */
  lack?: string
  /** Progress message that replaces "Installing …" if the step does not install anything. */
  doing?: string
  isDone(): Promise<boolean>
  canMake(): Promise<boolean>
  /** Installs the program or makes the file. Throws a CliError on failure. */
  make(): Promise<void>
}

/** Throws a CliError for the first set-up step that is not done. Installs nothing. */
export async function requireSetupSteps(steps: readonly SetupStep[]): Promise<void> {
  for (const step of steps) {
    if (!(await step.isDone())) throw new CliError(lackOf(step))
  }
}

/**
 * Reports whether an optional set-up step is done. If not, prints the missing part and `lack`, a
 * sentence about the unavailable feature. Installs nothing.
 */
export async function reportMissingSetupStep(step: SetupStep, lack: string): Promise<boolean> {
  if (await step.isDone()) return true
  console.error(`${lackOf(step)} ${lack}`)
  return false
}

/**
 * Runs an optional set-up step that is not done. If the step fails, prints the error and `lack`, a
 * sentence about the unavailable feature, and returns false.
 */
export async function runOptionalSetupStep(step: SetupStep, lack: string): Promise<boolean> {
  try {
    await ensureSetupSteps([step])
    return true
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    console.error(`${error.message}\n${lack}`)
    return false
  }
}

/** Runs the set-up steps that are not done. Throws a CliError with advice for a step that fails. */
export async function ensureSetupSteps(steps: SetupStep[]): Promise<void> {
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
