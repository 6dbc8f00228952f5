import { join } from "node:path"

const BUILD_FOLDER = join(import.meta.dirname, "../launcher/build")

/** Paths of the C programs and libraries that are built from container/launcher. */
export const LAUNCHER_PROGRAMS = {
  launcher: join(BUILD_FOLDER, "launcher"),
  meter: join(BUILD_FOLDER, "meter"),
  hold: join(BUILD_FOLDER, "hold.so"),
  reads: join(BUILD_FOLDER, "reads.so"),
  attack: join(BUILD_FOLDER, "attack"),
  networkAttack: join(BUILD_FOLDER, "network-attack"),
}
