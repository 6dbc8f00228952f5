import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"

const NEW_USER = 0x10000000
const ENOSYS = 38
const ERRNO = "SCMP_ACT_ERRNO"

const LANDLOCK = [{ names: ["landlock_create_ruleset"], action: ERRNO, errnoRet: ENOSYS }]
const NAMESPACES = [
  { names: ["unshare"], action: ERRNO },
  {
    names: ["clone"],
    action: ERRNO,
    args: [{ index: 0, value: NEW_USER, valueTwo: NEW_USER, op: "SCMP_CMP_MASKED_EQ" }],
  },
  { names: ["clone3"], action: ERRNO, errnoRet: ENOSYS },
]

/**
 * Options that start a container on a kernel that seems to lack these; the file is removed by
 * disposal.
 */
export async function openHiding(
  hidden: "landlock" | "landlock and namespaces",
): Promise<AsyncDisposable & { options: string[] }> {
  const folder = await makeTempFolder("profile")
  const path = join(folder.path, "seccomp.json")
  const syscalls = hidden === "landlock" ? LANDLOCK : [...LANDLOCK, ...NAMESPACES]
  await writeFile(path, JSON.stringify({ defaultAction: "SCMP_ACT_ALLOW", syscalls }))
  return {
    options: ["--security-opt", `seccomp=${path}`],
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
