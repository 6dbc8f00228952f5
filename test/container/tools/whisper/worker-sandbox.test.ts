import { createServer } from "node:net"
import { once } from "node:events"
import { mkdtemp, rm, writeFile, chmod } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startToolProcess } from "../../../../container/sandbox/start-process.ts"
import {
  findSpeechModelFolder,
  findWhisperInstallation,
} from "../../../../container/tools/whisper/whisper-environment.ts"
import { speechWorkerLaunchOptions } from "../../../../container/tools/whisper/speech-worker.ts"
import { VARIANTS, openSandboxLab } from "../../sandbox/lab.ts"
import { makeSkipSuffix, explainMissingSpeechModel } from "../../../support/media/speech.ts"
import { openSpeechLab } from "./lab.ts"

const SECRET = "canary-of-the-runner"
const lack = await explainMissingSpeechModel()

/** Attacks from inside a worker; the program prints those that succeed. */
const ATTACKS = `
import os, socket, sys
folder, port = sys.argv[1], int(sys.argv[2])
model = sys.argv[3]
def write(path): open(path, "w").write("x")
def connect(): socket.create_connection(("127.0.0.1", port), 2)
def environ(pid):
    text = open(f"/proc/{pid}/environ").read()
    assert "RUNNER_CANARY" in text
tries = {
    "read a file of the machine": lambda: open("/etc/passwd").read(),
    "read another task's workspace": lambda: open(folder + "/input").read(),
    "list another task's workspace": lambda: os.listdir(folder),
    "write to another task's workspace": lambda: write(folder + "/made"),
    "write to the root": lambda: write("/made"),
    "write to the temporary folder": lambda: write("/tmp/made"),
    "write to its model": lambda: write(model + "/made"),
    "change its model": lambda: open(model + "/config.json", "r+"),
    "write to shared memory": lambda: write("/dev/shm/made"),
    "connect to the machine": connect,
    "open a UNIX socket": lambda: socket.socket(socket.AF_UNIX),
    "start a process": os.fork,
    "signal the runner": lambda: os.kill(int(sys.argv[4]), 0),
    "read the environment of the runner": lambda: environ(sys.argv[4]),
    "read the environment of another": lambda: environ(1),
}
for name, attempt in tries.items():
    try:
        attempt()
        print("managed to", name)
    except (OSError, AssertionError):
        pass
open(model + "/config.json").read()
print("end")
`

describe.skipIf(lack !== null)(`code inside of a speech worker${makeSkipSuffix(lack)}`, () => {
  const server = createServer((socket) => socket.destroy())
  let folder: string
  let port: number

  beforeAll(async () => {
    process.env["RUNNER_CANARY"] = SECRET
    // Open to all users, so that only the sandbox protects it.
    folder = await mkdtemp(join(tmpdir(), "lathe-other-task-"))
    await writeFile(join(folder, "input"), SECRET)
    await chmod(folder, 0o777)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    port = typeof address === "object" ? (address?.port ?? 0) : 0
  })

  afterAll(async () => {
    delete process.env["RUNNER_CANARY"]
    server.close()
    await rm(folder, { recursive: true, force: true })
  })

  const variants = VARIANTS.filter(({ user }) => user === "root" || process.getuid?.() !== 0)
  for (const variant of variants) {
    test.skipIf(!variant.isSupported)(`reaches nothing by ${variant.tier}`, async () => {
      await using sandboxLab = await openSandboxLab(variant)
      const { settings } = await openSpeechLab()
      const whisper = findWhisperInstallation(settings)
      const modelFolder = findSpeechModelFolder(settings, "base")
      if (!whisper || modelFolder === null) throw new Error("There is no whisper.")
      const { taskSandbox } = sandboxLab
      const end = await startToolProcess({
        ...speechWorkerLaunchOptions({ sandbox: taskSandbox.sandbox, whisper, modelFolder }),
        argv: [
          "-I",
          "-S",
          "-B",
          "-c",
          ATTACKS,
          folder,
          String(port),
          modelFolder,
          String(process.pid),
        ],
        taskSandbox,
        timeLimitMs: 20_000,
        stdoutBytesMax: 10_000,
        signal: new AbortController().signal,
      }).finished
      expect(end).toMatchObject({ stdout: "end\n", exitCode: 0, cause: null })
    })
  }
})
