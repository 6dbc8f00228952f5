/**
 * Error whose message tells the user everything needed. `runScript` prints no stack trace for this
 * error.
 */
export class CliError extends Error {}

/**
 * Runs a script. Prints the message of a CliError, or any other error with its stack trace, and
 * then sets the exit code 1.
 */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof CliError ? error.message : error)
    process.exitCode = 1
  }
}
