import { build } from "esbuild"

// Bundles the service. Runs as its own process, so that its memory is freed at the end.

const PROGRAM = "scripts/build/bundle.ts"

try {
  await import("./bundle.ts")
} catch (error) {
  if (!(error instanceof SyntaxError)) throw error
  process.exitCode = 1
  if (!(await isExplained())) console.error(`${PROGRAM} cannot be run: ${error.message}`)
}

/**
 * Bundles bundle.ts with esbuild, which prints a syntax error with its place in the sources.
 * Returns true if esbuild finds an error.
 */
async function isExplained(): Promise<boolean> {
  const options = { bundle: true, write: false, platform: "node", packages: "external" } as const
  const built = build({ ...options, entryPoints: [PROGRAM], format: "esm", logLevel: "error" })
  return await built.then(
    () => false,
    () => true,
  )
}
