import { execFile } from "node:child_process"
import { chown, copyFile, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { once } from "node:events"
import { promisify } from "node:util"
import { beforeEach, describe, expect, test } from "vitest"
import {
  EXPECTED_NETWORK_ATTACK_OUTCOMES,
  startNetworkAttackTargets,
} from "../../../../container/sandbox/tiers/network-test.ts"
import { isReachableByAllUsers } from "../../../../container/sandbox/system-paths.ts"
import { LAUNCHER_PROGRAMS } from "../../../../container/sandbox/launcher-programs.ts"
import { waveHeader } from "../../wave.ts"
import { openSandboxLab, UNPRIVILEGED_UID, VARIANTS } from "../lab.ts"
import type { SandboxLab, Variant } from "../lab.ts"

const isRoot = process.getuid?.() === 0
const SOUND = Buffer.concat([waveHeader(8000, 8000), Buffer.alloc(8000, 128)])
/** Address at which nothing answers. */
const ANYWHERE = "http://192.0.2.1/sound.wav"
const python = await describePython("python3")
/** Python that other users can run too. */
const systemPython = await describePython("/usr/bin/python3")

/** Returns a Python of this machine, and the folder of its library. */
async function describePython(program: string): Promise<{ path: string; library: string } | null> {
  const script = "import sys, sysconfig; print(sys.executable, sysconfig.get_path('stdlib'))"
  const run = await promisify(execFile)(program, ["-c", script]).catch(() => null)
  const [path = "", library = ""] = run?.stdout.trim().split(" ") ?? []
  return run && { path, library }
}

/** Returns the tool's user id, if it differs from this process's. */
function uidOf({ user }: Variant, lab: SandboxLab): number | null {
  if (!isRoot) return null
  return user === "unprivileged" ? UNPRIVILEGED_UID : lab.taskSandbox.uid
}

/** Starts a web server on a UNIX socket that has the same sound at all addresses. */
async function openSite(uid: number | null) {
  const folder = await mkdtemp(join(tmpdir(), "lathe-site-"))
  const socketPath = join(folder, "socket")
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`)
    response.setHeader("connection", "close").end(SOUND)
  })
  server.listen(socketPath)
  await once(server, "listening")
  if (uid !== null) for (const path of [folder, socketPath]) await chown(path, uid, uid)
  return {
    socketPath,
    asked,
    async [Symbol.asyncDispose]() {
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

describe.concurrent.for(VARIANTS)("in the tier $tier as $user", (variant) => {
  beforeEach(({ skip }) => skip(!variant.isSupported, "this machine does not support it"))

  test("all connections lead to one socket, and no other target is reached", async () => {
    await using lab = await openSandboxLab(variant)
    const uid = uidOf(variant, lab)
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    const addresses = own.filter(({ scopeid }) => !scopeid).map(({ address }) => address)
    await using targets = await startNetworkAttackTargets(uid, addresses)
    // If the runner is root, only root may enter the folder.
    if (uid !== null && variant.user === "unprivileged") await chown(targets.folder, uid, uid)
    const program = join(lab.outside, "../network-attack")
    await copyFile(LAUNCHER_PROGRAMS.networkAttack, program)
    const network = { network: targets.socketPath, mayFork: true }
    const run = await lab.run(program, targets.argvFor("all"), network)
    const outcomes = Object.entries(EXPECTED_NETWORK_ATTACK_OUTCOMES).map((each) => each.join(" "))
    expect(run.text.trim().split("\n")).toEqual(outcomes)
    expect(targets.wasReached()).toBe(false)
  })

  test("ffmpeg reads from a URL", async () => {
    await using lab = await openSandboxLab(variant)
    await using site = await openSite(uidOf(variant, lab))
    const argv = ["-nostdin", "-v", "error", "-i", ANYWHERE, "-f", "wav", "out.wav"]
    const run = await lab.run("ffmpeg", argv, { network: site.socketPath })
    expect(run).toMatchObject({ exitCode: 0, text: "" })
    expect(site.asked).toContain("192.0.2.1/sound.wav")
  })

  test("Node evaluates a script and reads from a URL", async ({ skip }) => {
    skip(
      variant.user === "unprivileged" && !isReachableByAllUsers(process.execPath),
      "Node is out of reach",
    )
    await using lab = await openSandboxLab(variant)
    await using site = await openSite(uidOf(variant, lab))
    const script = `
      import { once } from "node:events"
      import { get } from "node:http"
      const [answer] = await once(get("${ANYWHERE}", { timeout: 9000 }), "response")
      const chunks = await answer.toArray()
      console.log(Buffer.concat(chunks).byteLength, eval("6 * 7"))`
    const argv = ["--input-type=module", "--eval", script]
    const run = await lab.run(process.execPath, argv, { network: site.socketPath })
    expect(run).toMatchObject({ exitCode: 0, text: `${SOUND.length} 42\n` })
  })

  test("Python reads from a URL with a time limit, and runs named programs only", async ({
    skip,
  }) => {
    if (!systemPython) return skip("there is no Python")
    await using lab = await openSandboxLab(variant)
    await using site = await openSite(uidOf(variant, lab))
    const script = `
import subprocess, urllib.request
print(len(urllib.request.urlopen("${ANYWHERE}", timeout=9).read()))
print(subprocess.run(["/usr/bin/ffprobe", "-version"], capture_output=True).returncode)
try:
    subprocess.run(["/bin/sh", "-c", "exit 0"])
except PermissionError:
    print("refused")
except FileNotFoundError:
    print("refused")`
    const run = await lab.run(systemPython.path, ["-I", "-c", script], {
      network: site.socketPath,
      mayFork: true,
      read: [systemPython.library],
      run: ["ffprobe"],
    })
    expect(run).toMatchObject({ exitCode: 0, text: `${SOUND.length}\n0\nrefused\n` })
  })

  test("a virtual environment below a folder closed to the tool runs", async ({ skip }) => {
    if (!python) return skip("there is no Python")
    skip(variant.user === "unprivileged", "only root has such folders")
    await using lab = await openSandboxLab(variant)
    const folder = await mkdtemp(join(tmpdir(), "lathe-closed-"))
    const environment = join(folder, "deep/environment")
    await promisify(execFile)(python.path, ["-m", "venv", "--without-pip", environment])
    const script = "import json, sys; print(sys.prefix)"
    const run = await lab.run(join(environment, "bin/python"), ["-I", "-c", script], {
      read: [environment, python.library],
    })
    await rm(folder, { recursive: true })
    expect(run).toMatchObject({ exitCode: 0, text: `${environment}\n` })
  })

  test("a missing socket keeps the tool from starting", async () => {
    await using lab = await openSandboxLab(variant)
    const run = await lab.run("ffmpeg", ["-version"], { network: join(lab.workspace, "socket") })
    expect(run).toMatchObject({ exitCode: 126 })
    expect(run.text).toMatch(/^launcher: .+\/socket: No such file or directory\n$/)
  })
})
