import { z } from "zod"

const versions = z.record(z.string(), z.string()).default({})
const manifest = z.object({ dependencies: versions, devDependencies: versions })

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      inBundle: z.boolean().optional(),
    }),
  ),
})

/**
 * Compares package-lock.json with package.json. Returns a sentence for each difference or missing
 * hash.
 */
export function findLockProblems(packageJson: unknown, packageLock: unknown): string[] {
  const { dependencies, devDependencies } = manifest.parse(packageJson)
  const { packages } = lockFile.parse(packageLock)
  const root = manifest.parse(packageLockRoot(packageLock))
  const declared = { ...dependencies, ...devDependencies }
  const locked = { ...root.dependencies, ...root.devDependencies }
  const problems: string[] = []
  for (const [name, version] of Object.entries(declared)) {
    const installed = packages[`node_modules/${name}`]?.version
    if (installed === version && locked[name] === version) continue
    problems.push(
      `${name} is ${version} in package.json and ${installed ?? "missing"} in the lock.`,
    )
  }
  for (const name of Object.keys(locked)) {
    if (!(name in declared)) problems.push(`${name} is in the lock and not in package.json.`)
  }
  for (const [path, { integrity, resolved, inBundle }] of Object.entries(packages)) {
    // Skips bundled packages: they are a part of their parent's archive, and have no hash.
    if (path === "" || inBundle) continue
    if (integrity === undefined) problems.push(`${path} has no integrity hash in the lock.`)
    if (resolved !== undefined) problems.push(`${path} names a registry in the lock.`)
  }
  return problems
}

function packageLockRoot(packageLock: unknown): unknown {
  return z.object({ packages: z.object({ "": z.unknown() }) }).parse(packageLock).packages[""]
}
