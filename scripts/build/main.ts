import { build } from "esbuild"

// Bundles the service. As a process of its own, since what it takes is not to stay.

const PROGRAM = "scripts/build/bundle.ts"

try {
  await import("./bundle.ts")
} catch (error) {
  if (!(error instanceof SyntaxError)) throw error
  process.exitCode = 1
  if (!(await isExplained())) console.error(`${PROGRAM} cannot be run: ${error.message}`)
}

/** Whether esbuild shows what is wrong in what the program is made of, and where. */
async function isExplained(): Promise<boolean> {
  const options = { bundle: true, write: false, platform: "node", packages: "external" } as const
  const built = build({ ...options, entryPoints: [PROGRAM], format: "esm", logLevel: "error" })
  return await built.then(
    () => false,
    () => true,
  )
}
