/**
 * How tools are isolated. `landlock` is our launcher alone; `namespaces` adds bubblewrap around it;
 * `mounts` is both without Landlock, so that bubblewrap's mounts hold the files; `none` is no sandbox.
 */
export type Tier = "namespaces" | "mounts" | "landlock" | "none"

/** Whether bubblewrap makes namespaces for each tool. */
export function hasNamespaces(tier: Tier): boolean {
  return tier === "namespaces" || tier === "mounts"
}
