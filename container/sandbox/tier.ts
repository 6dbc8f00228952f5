/**
 * How tools are isolated. `landlock` is our launcher alone; `namespaces` adds bubblewrap around it;
 * `none` is no sandbox.
 */
export type Tier = "namespaces" | "landlock" | "none"
