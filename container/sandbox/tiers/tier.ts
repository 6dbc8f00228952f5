/**
 * Isolation of tools. `namespaces`: bubblewrap creates namespaces, and in them the launcher applies
 * Landlock and seccomp. `mounts`: the same without Landlock; only the mounts of bubblewrap protect
 * files. `landlock`: the launcher without bubblewrap. `none`: no sandbox.
 */
export type SandboxTier = "namespaces" | "mounts" | "landlock" | "none"

/** Reports whether bubblewrap creates namespaces for each tool in this tier. */
export function usesNamespaces(tier: SandboxTier): boolean {
  return tier === "namespaces" || tier === "mounts"
}
