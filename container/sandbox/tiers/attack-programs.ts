import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isReadableByAllUsers } from "../system-paths.ts"
import { LAUNCHER_PROGRAMS } from "../launcher-programs.ts"
import type { Sandbox } from "../sandbox.ts"

const READABLE_MODE = 0o755

/**
 * Returns the paths of the attack programs, which test the sandbox. If the tools' user may not
 * enter the folder of this code, copies the programs to a temporary folder, which is removed on
 * disposal. If tools have no separate user, always returns the original paths, since the temporary
 * folder may be mounted noexec.
 */
export async function prepareSandboxAttackPrograms({ firstUid }: Sandbox) {
  const built = { attack: LAUNCHER_PROGRAMS.attack, networkAttack: LAUNCHER_PROGRAMS.networkAttack }
  if (firstUid === null || isReadableByAllUsers(built.attack)) {
    return { ...built, [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  const parent =
    [tmpdir(), "/tmp", "/var/tmp"].find((path) => isReadableByAllUsers(path)) ?? tmpdir()
  const folder = await mkdtemp(join(parent, "lathe-attack-"))
  const copies = { attack: join(folder, "attack"), networkAttack: join(folder, "network-attack") }
  await chmod(folder, READABLE_MODE)
  await Promise.all([
    copyFile(built.attack, copies.attack),
    copyFile(built.networkAttack, copies.networkAttack),
  ])
  await Promise.all(Object.values(copies).map((path) => chmod(path, READABLE_MODE)))
  return {
    ...copies,
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  }
}
