/** An error whose message, one sentence or a few lines, says all that the user needs to know. */
export class CliError extends Error {}

/** Runs a script; a CliError is printed as its message, anything else with its stack; exit 1. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof CliError ? error.message : error)
    process.exitCode = 1
  }
}
