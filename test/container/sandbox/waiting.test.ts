import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { describeSandbox } from "../../../container/sandbox/choose.ts"
import type { PlacedTool } from "../../../container/sandbox/place.ts"
import { findWaitingProblem } from "../../../container/sandbox/places.ts"
import type { ProcessSpec } from "../../../container/sandbox/process.ts"
import type { Place, TaskSandbox, WaitingForm } from "../../../container/sandbox/sandbox.ts"
import { startProcess } from "../../../container/sandbox/start.ts"
import { closeTaskSandbox, prepareTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { encodeOrder } from "../../../container/sandbox/waiting.ts"
import { runnerSettings } from "../../support/runner-settings.ts"
import { processesIn } from "../harness.ts"
import { tierWithNamespaces } from "../../support/supported-tiers.ts"

const tier = await tierWithNamespaces()
const settings = runnerSettings()
const FORMS = ["launcher", "tool"] as const
const LIST = "/bin/ls"
const READER: PlacedTool = { tool: LIST, access: "read" }
const TOOLS: PlacedTool[] = [READER, { tool: "/bin/cp", access: "write" }]

/** Prints what a program is given: descriptors, limits, mask, environment and open rights. */
const STATE = `
  #define _GNU_SOURCE
  #include <fcntl.h>
  #include <signal.h>
  #include <stdio.h>
  #include <sys/prctl.h>
  #include <sys/resource.h>
  #include <sys/stat.h>
  #include <unistd.h>
  extern char **environ;
  int main(void) {
    struct stat facts;
    for (int i = 0; i < 512; i++)
      if (fstat(i, &facts) == 0)
        printf("%d %o %x %x\\n", i, facts.st_mode & S_IFMT, fcntl(i, F_GETFL), fcntl(i, F_GETFD));
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
      struct rlimit limit;
      getrlimit(i, &limit);
      printf("%d %lx %lx\\n", i, (long)limit.rlim_cur, (long)limit.rlim_max);
    }
    for (char **each = environ; *each; each++) puts(*each);
    for (int i = 1; i < 32; i++) {
      struct sigaction action;
      if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL) printf("ignores %d\\n", i);
    }
    char folder[4096];
    puts(getcwd(folder, sizeof folder) ? folder : "nowhere");
    printf("%d %d %d %o\\n", getuid(), getgid(), getpid() > 1, umask(0));
  }`

async function compileState() {
  const folder = await mkdtemp(join(tmpdir(), "lathe-state-"))
  await chmod(folder, 0o711)
  const program = join(folder, "state")
  await writeFile(`${program}.c`, STATE)
  const isBuilt = await promisify(execFile)("cc", ["-o", program, `${program}.c`]).then(
    () => true,
    () => false,
  )
  return {
    program: isBuilt ? program : null,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

let workDir: string
let prepared: TaskSandbox & { place: Place }

async function prepare(form: WaitingForm, tools: PlacedTool[] = TOOLS): Promise<typeof prepared> {
  const sandbox = describeSandbox(tier ?? "none", settings)
  const made = await prepareTaskSandbox(sandbox, workDir, tools, form)
  expect(await made.place.ready).toBe(true)
  return made
}

function run(taskSandbox: typeof prepared, differing: Partial<ProcessSpec> = {}) {
  const { signal } = new AbortController()
  const cwd = taskSandbox.place.folder
  const spec = { taskSandbox, tool: LIST, argv: [], cwd, access: "read" as const, signal }
  return startProcess({ ...spec, timeLimitMs: 10_000, stdoutBytesMax: 4096, ...differing }).finished
}

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  workDir = await mkdtemp(join(tmpdir(), "lathe-waiting-"))
  await chmod(workDir, 0o711)
})

afterEach(async () => {
  if (tier === undefined) return
  await expect.poll(() => processesIn(workDir)).toEqual([])
  await rm(workDir, { recursive: true })
})

describe.for(FORMS)("a sandbox in which a %s waits", (form) => {
  beforeEach(async () => {
    prepared = await prepare(form)
  })

  afterEach(() => closeTaskSandbox(prepared, null))

  test("runs one tool as a cold start would, and no second", async () => {
    await writeFile(join(prepared.place.folder, "in_1"), "")
    const first = await run(prepared)
    expect(first).toMatchObject({ exitCode: 0, cause: null, stdout: "in_1\n" })
    expect(prepared.place.countBegun()).toBe(1)
    expect(await run(prepared)).toMatchObject({ exitCode: 0, stdout: "in_1\n" })
    expect(prepared.place.countBegun()).toBe(1)
  })

  test("serves only a launch whose sandbox it is", async () => {
    const others: Partial<ProcessSpec>[] = [
      { access: "write" },
      { tool: "/bin/true" },
      { mayFork: true },
      { read: ["/etc/hostname"] },
      { run: ["/bin/true"] },
      { stdin: "text" },
    ]
    for (const other of others) await run(prepared, other)
    expect(prepared.place.countBegun()).toBe(0)
  })

  test("gives a tool with read access no way to write", async () => {
    const cp = { tool: "/bin/cp", argv: ["/etc/ld.so.cache", "out"] }
    const reading = await prepare(form, [{ tool: cp.tool, access: "read" }])
    expect((await run(reading, cp)).exitCode).toBe(1)
    expect(reading.place.countBegun()).toBe(1)
    await closeTaskSandbox(reading, null)
    const written = { tool: "/bin/cp", access: "write" as const, argv: ["/etc/ld.so.cache", "out"] }
    expect(await run(prepared, written)).toMatchObject({ exitCode: 0 })
    expect(await readdir(prepared.place.folder)).toEqual(["out"])
  })

  test("keeps its tool within the limits of the order, which are those of the task", async () => {
    const end = await run(
      { ...prepared, workspaceBytes: 1024 },
      { tool: "/bin/cp", access: "write", argv: ["/etc/ld.so.cache", "out"] },
    )
    expect(prepared.place.countBegun()).toBe(1)
    expect(end).toMatchObject({ cause: "file_limit", signal: "SIGXFSZ" })
  })

  test("counts its time from the order", async () => {
    const beganMs = performance.now()
    const end = await run(prepared)
    expect(prepared.place.countBegun()).toBe(1)
    expect(end.wallMs).toBeLessThanOrEqual(performance.now() - beganMs)
  })

  test("that was ended is replaced by a cold start", async () => {
    const taken = prepared.place.take({
      ...READER,
      taskSandbox: prepared,
      argv: [],
      timeLimitMs: 0,
      cwd: prepared.place.folder,
    })
    // The runner has not heard of the end yet when it gives the order.
    const isGiven = { ...prepared.place, take: () => taken }
    if (taken?.child.pid !== undefined) process.kill(-taken.child.pid, "SIGKILL")
    const end = await run({ ...prepared, place: isGiven })
    expect(end).toMatchObject({ exitCode: 0, cause: null, spawnError: null })
    expect(prepared.place.countBegun()).toBe(0)
  })

  test("that ended long ago is not used", async () => {
    await prepared.place.giveUp()
    expect(await run(prepared)).toMatchObject({ exitCode: 0 })
    expect(prepared.place.countBegun()).toBe(0)
  })

  test.for<[string, Partial<ProcessSpec>]>([
    ["with progress", { onProgressLine: () => undefined }],
    ["without progress", {}],
  ])("gives its tool what a cold start gives, %s", async ([, differing], { skip }) => {
    await using folder = await compileState()
    if (folder.program === null) return skip("there is no C compiler")
    const tool = folder.program
    const made = await prepare(form, [{ tool, access: "read" }])
    const cold = await run(
      { ...made, place: { ...made.place, take: () => null } },
      { tool, ...differing },
    )
    const waited = await run(made, { tool, ...differing })
    expect(made.place.countBegun()).toBe(1)
    await closeTaskSandbox(made, null)
    expect(cold.stdout).toMatch(/^0 /)
    expect(waited.stdout).toBe(cold.stdout)
  })

  test("passes the self-test of the sandbox", async () => {
    const sandbox = describeSandbox(tier ?? "none", settings)
    expect(await findWaitingProblem(sandbox, { ...settings, workDir }, form)).toBe(null)
  })

  test("takes no order with a word that would end another, nor one that is too long", () => {
    expect(encodeOrder(["a\0--run"])).toBe(null)
    expect(encodeOrder(["a".repeat(1024 ** 2)])).toBe(null)
  })
})

describe("tasks in turn", () => {
  test("have users and folders of their own, and leave none behind", async () => {
    const prepared = await prepare("tool")
    const next = await prepare("tool")
    expect(next.uid === prepared.uid).toBe(process.getuid?.() !== 0)
    await writeFile(join(prepared.place.folder, "in_1"), "")
    expect(await run(next)).toMatchObject({ exitCode: 0, stdout: "" })
    const other = { argv: [prepared.place.folder], tool: LIST }
    expect((await run(next, other)).exitCode).toBe(2)
    await closeTaskSandbox(next, null)
    expect(await readdir(workDir)).toEqual([prepared.place.folder.split("/").at(-1)])
    await closeTaskSandbox(prepared, null)
  })

  test("do not survive their runner", async () => {
    const script = new URL("waiting-run.ts", import.meta.url).pathname
    const child = spawn(process.execPath, [script, workDir], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    await once(child.stdout, "data")
    const [folder = "", ...others] = await readdir(workDir)
    expect(others).toEqual([])
    child.kill("SIGKILL")
    await expect.poll(() => processesIn(join(workDir, folder))).toEqual([])
  })
})
