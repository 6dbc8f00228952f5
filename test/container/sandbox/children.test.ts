import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import {
  createTierSandbox,
  SANDBOX_TIERS,
} from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { startNetworkAttackTargets } from "../../../container/sandbox/tiers/network-test.ts"
import { toolLaunchArgv } from "../../../container/sandbox/sandbox.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { startToolProcess } from "../../../container/sandbox/start-process.ts"
import { destroyTaskSandbox, createTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { createWorkspace } from "../../../container/sandbox/workspace.ts"
import { DEFAULT_TOOL_LIMITS } from "../../../container/settings.ts"
import { processesIn } from "../harness.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const MIB = 1024 ** 2
const LIMITS = { ...DEFAULT_TOOL_LIMITS, threads: 50, workspaceBytes: 50 * MIB }
const tiers = await listSupportedTiers()

const SOURCE = `
  #include <fcntl.h>
  #include <pthread.h>
  #include <signal.h>
  #include <stdio.h>
  #include <string.h>
  #include <sys/wait.h>
  #include <unistd.h>
  static char block[1 << 20];
  static void hold_deleted_file(void) {
    int file = open("gone", O_RDWR | O_CREAT, 0600);
    if (file < 0 || unlink("gone") != 0) _exit(1);
    for (int i = 0; i < 100; i++) if (write(file, block, sizeof block) < 0) _exit(2);
  }
  /* Each process passes the file on to the next one, and ends. */
  static void pass_on(void) {
    hold_deleted_file();
    for (;;) if (fork() > 0) _exit(0);
  }
  static void *fork_in_thread(void *nothing) {
    if (fork() == 0) { hold_deleted_file(); sleep(200); _exit(0); }
    sleep(200);
    return nothing;
  }
  int main(int count, char **words) {
    if (count != 2) return 1;
    if (strcmp(words[1], "leave") == 0) {
      if (fork() == 0) sleep(200);
      return 0;
    }
    if (strcmp(words[1], "stay") == 0) {
      if (fork() == 0) sleep(200);
      puts("started");
      fflush(stdout);
      sleep(200);
    }
    if (strcmp(words[1], "end-child") == 0) {
      pid_t child = fork();
      int status = 0;
      if (child == 0) sleep(200);
      if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child) return 1;
      return WIFSIGNALED(status) ? 0 : 2;
    }
    if (strcmp(words[1], "hold") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, fork_in_thread, NULL);
      sleep(200);
    }
    if (strcmp(words[1], "pass-on") == 0) {
      if (fork() == 0) pass_on();
      for (;;) if (wait(NULL) < 0) usleep(10);
    }
    int made = 0;
    for (; made < 1000; made++) {
      pid_t child = fork();
      if (child < 0) break;
      if (child == 0) { sleep(200); _exit(0); }
    }
    printf("%d", made);
    return 0;
  }`

let folder: string
let hasCompiler = false

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-children-"))
  await chmod(folder, 0o711)
  await writeFile(join(folder, "tool.c"), SOURCE)
  const argv = ["-pthread", "-o", join(folder, "tool"), join(folder, "tool.c")]
  hasCompiler = await promisify(execFile)("cc", argv).then(
    () => true,
    () => false,
  )
})

afterAll(() => rm(folder, { recursive: true }))

async function openTask(tier: SandboxTier) {
  const settings = makeTestRunnerSettings()
  const taskSandbox = createTaskSandbox(createTierSandbox(tier, { ...settings, limits: LIMITS }))
  const run = { taskId: crypto.randomUUID(), fence: 1 }
  const cwd = await createWorkspace(join(folder, "work"), run, taskSandbox.uid)
  return {
    spec: {
      tool: join(folder, "tool"),
      taskSandbox,
      cwd,
      access: "write" as const,
      mayFork: true,
      timeLimitMs: 100_000,
    },
    [Symbol.asyncDispose]: () => destroyTaskSandbox(taskSandbox, cwd),
  }
}

/**
 * Returns the processes that remain in a workspace; killed processes need a moment to disappear.
 */
async function leftIn(cwd: string) {
  const isGone = vi.waitFor(async () => expect(await processesIn(cwd)).toEqual([]), 60_000)
  return await isGone.then(
    () => [],
    async () => await processesIn(cwd),
  )
}

describe.concurrent.for(SANDBOX_TIERS)("in the tier %s", (tier) => {
  beforeEach(({ skip }) => {
    skip(!tiers.includes(tier), "this machine does not support it")
    skip(!hasCompiler, "there is no C compiler")
  })

  async function run(how: string) {
    await using task = await openTask(tier)
    const { signal } = new AbortController()
    const spec = { ...task.spec, argv: [how], signal, stdoutBytesMax: 100 }
    const end = await startToolProcess(spec).finished
    return { ...end, left: await leftIn(task.spec.cwd) }
  }

  test("a tool's leftover children end with it", async () => {
    const end = await run("leave")
    expect(end).toMatchObject({ exitCode: 0, cause: null, left: [] })
    expect(end.wallMs).toBeLessThan(60_000)
  })

  test("a tool may kill its children", async () => {
    expect(await run("end-child")).toMatchObject({ exitCode: 0, stderrTail: "" })
  })

  test("a deleted file held by a thread's child kills its tool", async () => {
    expect(await run("hold")).toMatchObject({ cause: "disk_limit", left: [] })
  })

  test("a deleted file that processes pass on kills its tool", async () => {
    expect(await run("pass-on")).toMatchObject({ cause: "disk_limit", left: [] })
  })

  test("processes count towards the limit of threads", async () => {
    const { stdout } = await run("many")
    expect(Number(stdout)).toBeGreaterThan(10)
    expect(Number(stdout)).toBeLessThan(50)
  })

  test("children with a network end when the runner is killed", async () => {
    await using task = await openTask(tier)
    await using targets = await startNetworkAttackTargets(task.spec.taskSandbox.uid)
    const launch = toolLaunchArgv({ ...task.spec, argv: ["stay"], network: targets.socketPath })
    // The shell acts as the runner; its tool leads its own process group.
    const runner = spawn("sh", ["-c", 'setsid "$@" & wait', "sh", ...launch], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    await once(runner.stdout, "data")
    expect(await processesIn(task.spec.cwd)).not.toEqual([])
    runner.kill("SIGKILL")
    await vi.waitFor(async () => expect(await processesIn(task.spec.cwd)).toEqual([]), 60_000)
  })
})

test("a tool without a sandbox has no network", async () => {
  await using task = await openTask("none")
  const { signal } = new AbortController()
  const spec = { ...task.spec, argv: ["leave"], network: join(folder, "socket"), signal }
  expect(await startToolProcess(spec).finished).toMatchObject({
    cause: "spawn_failed",
    spawnError: expect.stringMatching(/^Tools without a sandbox cannot have a network/),
  })
})

test("a tool reads the text on its standard input", async () => {
  await using task = await openTask("none")
  const { signal } = new AbortController()
  const spec = { ...task.spec, tool: "cat", argv: [], stdin: "some text", signal }
  const { stdout } = await startToolProcess({ ...spec, stdoutBytesMax: 100 }).finished
  expect(stdout).toBe("some text")
})
