import { execFile } from "node:child_process"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

/** A program that starts others on a kernel that seems to have less: see hide.c. */
export type Hider = AsyncDisposable & {
  /** The words before a program's own, which hide Landlock, or namespaces beside. */
  words(hidden: "landlock" | "both"): [string, ...string[]]
}

/** Builds the program, where all users may run it; null where there is no C compiler. */
export async function buildHider(): Promise<Hider | null> {
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
