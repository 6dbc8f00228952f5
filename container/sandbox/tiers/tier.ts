/**
 * Way in which the sandbox isolates tools. `namespaces`: bubblewrap creates namespaces, and inside
 * the namespaces the launcher applies Landlock and seccomp. `mounts`: like `namespaces` but without
 * Landlock, so that only the mounts of bubblewrap protect files. `landlock`: the launcher applies
 * Landlock and seccomp without bubblewrap. `none`: no sandbox.
 */
export type SandboxTier = "namespaces" | "mounts" | "landlock" | "none"

/** Reports whether bubblewrap creates namespaces for each tool in this tier. */
export function usesNamespaces(tier: SandboxTier): boolean {
  return tier === "namespaces" || tier === "mounts"
}
