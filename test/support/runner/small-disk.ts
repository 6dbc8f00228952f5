import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Mounted tmpfs of a given size. The disposal unmounts and removes the tmpfs. */
export type SmallDisk = Disposable & { path: string }

/** Mounts a tmpfs of `bytes` bytes. Returns null if this process may not mount. */
export function mountSmallDisk(bytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), "lathe-disk-"))
  try {
    const options = `size=${bytes},mode=711`
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" })
  } catch {
    rmdirSync(path)
    return null
  }
  return {
    path,
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", path])
      rmdirSync(path)
    },
  }
}
