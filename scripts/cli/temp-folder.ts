import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Creates an empty temporary folder. The disposal removes the folder with its content. */
export async function makeTempFolder(
  name: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), `lathe-${name}-`))
  return {
    path,
    async [Symbol.asyncDispose]() {
      // Retries the removal, because a process that is ending may still write into the folder.
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
