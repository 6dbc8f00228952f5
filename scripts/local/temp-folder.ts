import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A new empty folder, which is removed with all that is in it when it is disposed of. */
export async function makeTempFolder(
  name: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), `lathe-${name}-`))
  return {
    path,
    async [Symbol.asyncDispose]() {
      // Retried, since a process that is just ending may still write.
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
