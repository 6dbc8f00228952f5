/** Error whose message tells the user everything needed. `runScript` prints no stack for it. */
export class CliError extends Error {}

/**
 * Runs a script. If it throws, prints the message of a CliError, or another error with its stack,
 * and sets the exit code 1.
 */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof CliError ? error.message : error)
    process.exitCode = 1
  }
}
