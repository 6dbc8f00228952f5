/** An error whose message, one sentence or a few lines, is all that a person needs to read. */
export class Complaint extends Error {}

/** Runs a script; a complaint is printed as its message, anything else with its stack; exit 1. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof Complaint ? error.message : error)
    process.exitCode = 1
  }
}
