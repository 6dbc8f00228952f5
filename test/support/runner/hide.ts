import { execFile } from "node:child_process"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

/** Program that starts another program as if the kernel lacked security features; see hide.c. */
export type KernelFeatureHider = AsyncDisposable & {
  /**
   * Returns the beginning of a command line, to which a test appends a command. Hides Landlock from
   * the command, or with `both`, Landlock and namespaces.
   */
  words(hidden: "landlock" | "both"): [string, ...string[]]
}

/** Builds the program in a folder that all users can read. Returns null without a C compiler. */
export async function buildKernelFeatureHider(): Promise<KernelFeatureHider | null> {
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(await makeTempFolder("hide"))
  await chmod(folder, 0o755)
  const program = join(folder, "hide")
  const argv = ["-o", program, join(import.meta.dirname, "hide.c")]
  const isBuilt = await promisify(execFile)("cc", argv).then(
    () => true,
    () => false,
  )
  if (!isBuilt) return null
  const kept = opened.move()
  return {
    words: (hidden) => [program, hidden],
    [Symbol.asyncDispose]: async () => await kept.disposeAsync(),
  }
}
