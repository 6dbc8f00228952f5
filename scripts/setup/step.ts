import { CliError } from "../local/cli-error.ts"

/** Something that is installed where it is missing; `isDone` must be quick. */
export type SetupStep = {
  /** What is installed, as it reads after "Installing". */
  name: string
  /** What a person can do where `make` cannot. */
  advice: string
  /** A sentence on what is missing, where "Lathe lacks" the name and "run `npm run setup`" is not it. */
  lack?: string
  /** What is said while it is made, where that is no installation. */
  doing?: string
  isDone(): Promise<boolean>
  canMake(): Promise<boolean>
  /** Throws a CliError where it fails. */
  make(): Promise<void>
}

/** Throws a CliError of one sentence at the first step that is not done; installs nothing. */
export async function requireSteps(steps: readonly SetupStep[]): Promise<void> {
  for (const step of steps) {
    if (!(await step.isDone())) throw new CliError(lackOf(step))
  }
}

/**
 * Answers whether a step that the service can do without is done; where it is not, `lack` says what
 * does not work then. Installs nothing.
 */
export async function mentionStep(step: SetupStep, lack: string): Promise<boolean> {
  if (await step.isDone()) return true
  console.error(`${lackOf(step)} ${lack}`)
  return false
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
    console.error(step.doing ?? `Installing ${step.name} ...`)
    await step.make()
    if (!(await step.isDone())) throw new CliError(step.advice)
  }
}

function lackOf({ name, lack }: SetupStep): string {
  return lack ?? `Lathe lacks ${name}: run \`npm run setup\`.`
}
