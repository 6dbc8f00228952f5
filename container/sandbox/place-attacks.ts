import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isOpenToAll } from "./paths.ts"
import { PROGRAMS } from "./programs.ts"
import type { Sandbox } from "./sandbox.ts"

const READABLE_MODE = 0o755

/**
 * The paths of the attack programs. A tool user may lack access to the folder of this code, and then
 * gets a copy. Without a user of its own no copy is made, since the temporary folder may be mounted
 * noexec.
 */
export async function placeAttacks({ firstUid }: Sandbox) {
  const built = { attack: PROGRAMS.attack, networkAttack: PROGRAMS.networkAttack }
  if (firstUid === null || isOpenToAll(built.attack)) {
    return { ...built, [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  const parent = [tmpdir(), "/tmp", "/var/tmp"].find((path) => isOpenToAll(path)) ?? tmpdir()
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
