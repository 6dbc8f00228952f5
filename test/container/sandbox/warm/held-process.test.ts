import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createTierSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import type { WarmTool } from "../../../../container/sandbox/warm/warm-sandbox.ts"
import { findWarmSandboxProblem } from "../../../../container/sandbox/warm/warm-sandbox-pool.ts"
import type { ToolProcessSpec } from "../../../../container/sandbox/tool-process.ts"
import type {
  WarmSandbox,
  TaskSandbox,
  WaitingProcessKind,
} from "../../../../container/sandbox/sandbox.ts"
import { startToolProcess } from "../../../../container/sandbox/start-process.ts"
import {
  destroyTaskSandbox,
  createWarmTaskSandbox,
} from "../../../../container/sandbox/task-sandbox.ts"
import { encodeLaunchOrder } from "../../../../container/sandbox/warm/held-process.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { processesIn } from "../../harness.ts"
import { findTierWithNamespaces } from "../../../support/runner/supported-tiers.ts"

const tier = await findTierWithNamespaces()
const settings = makeTestRunnerSettings()
const FORMS = ["launcher", "tool"] as const
const LIST = "/bin/ls"
const READER: WarmTool = { tool: LIST, access: "read" }
const TOOLS: WarmTool[] = [READER, { tool: "/bin/cp", access: "write" }]

/** Source of a tool that prints its descriptors, limits, mask, environment and open rights. */
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
let prepared: TaskSandbox & { warmSandbox: WarmSandbox }

async function prepare(
  form: WaitingProcessKind,
  tools: WarmTool[] = TOOLS,
): Promise<typeof prepared> {
  const sandbox = createTierSandbox(tier ?? "none", settings)
  const made = await createWarmTaskSandbox(sandbox, workDir, tools, form)
  expect(await made.warmSandbox.ready).toBe(true)
  return made
}

function run(taskSandbox: typeof prepared, differing: Partial<ToolProcessSpec> = {}) {
  const { signal } = new AbortController()
  const cwd = taskSandbox.warmSandbox.folder
  const spec = { taskSandbox, tool: LIST, argv: [], cwd, access: "read" as const, signal }
  const limits = { timeLimitMs: 10_000, stdoutBytesMax: 4096 }
  return startToolProcess({ ...spec, ...limits, ...differing }).finished
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

describe.for(FORMS)("a warm sandbox with a held %s", (form) => {
  beforeEach(async () => {
    prepared = await prepare(form)
  })

  afterEach(() => destroyTaskSandbox(prepared, null))

  test("runs one tool as a cold start would, and no second tool", async () => {
    await writeFile(join(prepared.warmSandbox.folder, "in_1"), "")
    const first = await run(prepared)
    expect(first).toMatchObject({ exitCode: 0, cause: null, stdout: "in_1\n" })
    expect(prepared.warmSandbox.countStarted()).toBe(1)
    expect(await run(prepared)).toMatchObject({ exitCode: 0, stdout: "in_1\n" })
    expect(prepared.warmSandbox.countStarted()).toBe(1)
  })

  test("accepts only a launch that matches its sandbox", async () => {
    const others: Partial<ToolProcessSpec>[] = [
      { access: "write" },
      { tool: "/bin/true" },
      { mayFork: true },
      { read: ["/etc/hostname"] },
      { run: ["/bin/true"] },
      { stdin: "text" },
    ]
    for (const other of others) await run(prepared, other)
    expect(prepared.warmSandbox.countStarted()).toBe(0)
  })

  test("keeps a tool with read access from writing", async () => {
    const cp = { tool: "/bin/cp", argv: ["/etc/ld.so.cache", "out"] }
    const reading = await prepare(form, [{ tool: cp.tool, access: "read" }])
    expect((await run(reading, cp)).exitCode).toBe(1)
    expect(reading.warmSandbox.countStarted()).toBe(1)
    await destroyTaskSandbox(reading, null)
    const written = { tool: "/bin/cp", access: "write" as const, argv: ["/etc/ld.so.cache", "out"] }
    expect(await run(prepared, written)).toMatchObject({ exitCode: 0 })
    expect(await readdir(prepared.warmSandbox.folder)).toEqual(["out"])
  })

  test("enforces the limits of the order, which are those of the task", async () => {
    const end = await run(
      { ...prepared, workspaceBytes: 1024 },
      { tool: "/bin/cp", access: "write", argv: ["/etc/ld.so.cache", "out"] },
    )
    expect(prepared.warmSandbox.countStarted()).toBe(1)
    expect(end).toMatchObject({ cause: "file_limit", signal: "SIGXFSZ" })
  })

  test("measures its time from the order on", async () => {
    const beganMs = performance.now()
    const end = await run(prepared)
    expect(prepared.warmSandbox.countStarted()).toBe(1)
    expect(end.wallMs).toBeLessThanOrEqual(performance.now() - beganMs)
  })

  test("is replaced by a cold start if its process was killed", async () => {
    const taken = prepared.warmSandbox.take({
      ...READER,
      taskSandbox: prepared,
      argv: [],
      timeLimitMs: 0,
      cwd: prepared.warmSandbox.folder,
    })
    // The runner does not know of the end yet when it sends the order.
    const isGiven = { ...prepared.warmSandbox, take: () => taken }
    if (taken?.child.pid !== undefined) process.kill(-taken.child.pid, "SIGKILL")
    const end = await run({ ...prepared, warmSandbox: isGiven })
    expect(end).toMatchObject({ exitCode: 0, cause: null, spawnError: null })
    expect(prepared.warmSandbox.countStarted()).toBe(0)
  })

  test("is not used long after its end", async () => {
    await prepared.warmSandbox.discard()
    expect(await run(prepared)).toMatchObject({ exitCode: 0 })
    expect(prepared.warmSandbox.countStarted()).toBe(0)
  })

  test.for<[string, Partial<ToolProcessSpec>]>([
    ["with progress", { onProgressLine: () => undefined }],
    ["without progress", {}],
  ])("gives its tool the same state as a cold start, %s", async ([, differing], { skip }) => {
    await using folder = await compileState()
    if (folder.program === null) return skip("there is no C compiler")
    const tool = folder.program
    const made = await prepare(form, [{ tool, access: "read" }])
    const cold = await run(
      { ...made, warmSandbox: { ...made.warmSandbox, take: () => null } },
      { tool, ...differing },
    )
    const waited = await run(made, { tool, ...differing })
    expect(made.warmSandbox.countStarted()).toBe(1)
    await destroyTaskSandbox(made, null)
    expect(cold.stdout).toMatch(/^0 /)
    expect(waited.stdout).toBe(cold.stdout)
  })

  test("passes the self-test of the sandbox", async () => {
    const sandbox = createTierSandbox(tier ?? "none", settings)
    expect(await findWarmSandboxProblem(sandbox, { ...settings, workDir }, form)).toBe(null)
  })

  test("refuses an order with a NUL byte in a word, or one that is too long", () => {
    expect(encodeLaunchOrder(["a\0--run"])).toBe(null)
    expect(encodeLaunchOrder(["a".repeat(1024 ** 2)])).toBe(null)
  })
})

describe("successive tasks", () => {
  test("have their own users and folders, and leave none behind", async () => {
    const prepared = await prepare("tool")
    const next = await prepare("tool")
    expect(next.uid === prepared.uid).toBe(process.getuid?.() !== 0)
    await writeFile(join(prepared.warmSandbox.folder, "in_1"), "")
    expect(await run(next)).toMatchObject({ exitCode: 0, stdout: "" })
    const other = { argv: [prepared.warmSandbox.folder], tool: LIST }
    expect((await run(next, other)).exitCode).toBe(2)
    await destroyTaskSandbox(next, null)
    expect(await readdir(workDir)).toEqual([prepared.warmSandbox.folder.split("/").at(-1)])
    await destroyTaskSandbox(prepared, null)
  })

  test("do not survive their runner", async () => {
    const script = new URL("held-tool-run.ts", import.meta.url).pathname
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
