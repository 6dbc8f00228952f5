import { mkdir, symlink } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { STATIC_LIBRARIES } from "./build-options.ts"
import { run } from "./run.ts"

const HARDENING = ["-fPIE", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]

/**
 * Makes what FLAGS link into programs: `libzeroed.a` in a folder, and its folder `static`, with nothing but
 * the libraries that are linked statically. Those that have no such form here are linked as any other.
 */
export async function makeLinkedIn(folder: string): Promise<void> {
  const object = join(folder, "zeroed.o")
  const source = join(import.meta.dirname, "zeroed.c")
  await run("gcc", ["-O2", "-Wall", "-Werror", ...HARDENING, "-c", source, "-o", object])
  await run("ar", ["rcs", join(folder, "libzeroed.a"), object])
  const statics = join(folder, "static")
  await mkdir(statics)
  for (const name of STATIC_LIBRARIES.map((library) => `lib${library}.a`)) {
    const found = (await run("gcc", [`--print-file-name=${name}`])).trim()
    if (isAbsolute(found)) await symlink(found, join(statics, name))
  }
}
