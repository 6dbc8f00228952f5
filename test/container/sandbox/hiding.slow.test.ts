import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { isReadableByAllUsers } from "../../../container/sandbox/system-paths.ts"
import { UNPRIVILEGED_UID, VARIANTS } from "./lab.ts"
import type { Variant } from "./lab.ts"

const SCRIPT = join(import.meta.dirname, "hiding-run.ts")
const MIB = 1024 ** 2
const isRoot = process.getuid?.() === 0

const toolEnd = z.object({
  cause: z.string().nullable(),
  exitCode: z.int().nullable(),
  stderrTail: z.string(),
})

let folder: string
let hasCompiler = false

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-hiding-"))
  await chmod(folder, 0o711)
  const argv = ["-pthread", "-o", join(folder, "hiding"), join(import.meta.dirname, "hiding.c")]
  hasCompiler = await promisify(execFile)("cc", argv).then(
    () => true,
    () => false,
  )
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Returns the end of the tool, the content of its workspace, and the leftovers of its removal. */
async function hide({ tier, user }: Variant, how: string) {
  const asUser = isRoot && user === "unprivileged"
  const identity = asUser ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID } : {}
  const workDir = join(folder, crypto.randomUUID())
  await mkdir(workDir, { mode: 0o711 })
  if (asUser) await chown(workDir, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
  const argv = [SCRIPT, tier, join(folder, "hiding"), how, workDir]
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"], ...identity })
  const exited = once(child, "exit")
  const [line] = await once(createInterface({ input: child.stdout }), "line")
  const { stdout } = await promisify(execFile)("du", ["-sb", workDir])
  child.stdin.end("\n")
  await exited
  const end = toolEnd.parse(JSON.parse(String(line)))
  return { ...end, bytes: Number.parseInt(stdout, 10), left: await readdir(workDir) }
}

describe.for(VARIANTS)("in the tier $tier as $user", (variant) => {
  beforeEach(({ skip }) => {
    skip(!variant.isSupported, "this machine does not support it")
    skip(!hasCompiler, "there is no C compiler")
    const isReachable =
      isReadableByAllUsers(import.meta.dirname) && isReadableByAllUsers(process.execPath)
    skip(variant.user === "unprivileged" && isRoot && !isReachable, "others cannot run this code")
  })

  test.for(["depth", "folder-mode", "many-files"])(
    "a tool cannot create folders to hide its files: %s",
    async (how) => {
      const { bytes, ...end } = await hide(variant, how)
      expect(end).toEqual({
        cause: null,
        exitCode: 3,
        stderrTail: "mkdir: Operation not permitted\n",
        left: [],
      })
      expect(bytes).toBeLessThan(MIB)
    },
  )

  test.for(["bytes", "file-mode", "new-names", "decoys", "swapped-names"])(
    "a file is measured whatever its name and mode: %s",
    async (how) => {
      const { bytes, cause, left } = await hide(variant, how)
      expect({ cause, left }).toEqual({ cause: "disk_limit", left: [] })
      expect(bytes).toBeLessThan(150 * MIB)
    },
  )
})
