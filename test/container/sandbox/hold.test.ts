import { execFile } from "node:child_process"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { createTierSandbox } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { createWarmSandboxPool } from "../../../container/sandbox/warm/warm-sandbox-pool.ts"
import type { TaskSandbox } from "../../../container/sandbox/sandbox.ts"
import { startToolProcess } from "../../../container/sandbox/start-process.ts"
import {
  destroyTaskSandbox,
  createWarmTaskSandbox,
} from "../../../container/sandbox/task-sandbox.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { findTierWithNamespaces } from "../../support/runner/supported-tiers.ts"

const tier = await findTierWithNamespaces()
const settings = makeTestRunnerSettings()
const sandbox = createTierSandbox(tier ?? "none", settings)
const access = "read" as const

const GREETING = `#include <stdio.h>
  int main(void) { puts("hello"); return 0; }`

/**
 * Source of a library that starts a thread before `main()`; Landlock would not bind that thread.
 */
const THREADED = `
  #include <pthread.h>
  #include <stdio.h>
  #include <unistd.h>
  static void *stay(void *none) { return pause(), none; }
  static pthread_t thread;
  __attribute__((constructor)) static void start(void) { pthread_create(&thread, NULL, stay, NULL); }
  int main(void) { puts("hello"); return 0; }`

/**
 * Source of a tool that prints the environment that it and its libraries see, and tries to execute
 * itself.
 */
const CURIOUS = `
  #include <errno.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <unistd.h>
  extern char **environ;
  extern char *program_invocation_name;
  static int early, has_path;
  __attribute__((constructor)) static void look(void) {
    while (environ[early]) early++;
    has_path = getenv("PATH") != NULL;
  }
  int main(int count, char **words) {
    printf("%d %d %s %s\\n", has_path, early < 10, getenv("LD_PRELOAD") ? "preloads" : "plain", words[1]);
    printf("%d\\n", words[count] == NULL && words[0][0] == '/' && program_invocation_name[0] == '/');
    fflush(stdout);
    execve(words[0], (char *[]){words[0], "again", NULL}, environ);
    printf("%d\\n", errno == EPERM);
    return 0;
  }`

let folder: string

beforeEach(async ({ skip }) => {
  skip(tier === undefined, "this machine does not support namespaces")
  folder = await mkdtemp(join(tmpdir(), "lathe-hold-"))
  await chmod(folder, 0o711)
})

afterEach(async () => {
  if (tier !== undefined) await rm(folder, { recursive: true })
})

async function compile(source: string, skip: (why: string) => never, ...words: string[]) {
  const program = join(folder, "program")
  await writeFile(`${program}.c`, `#define _GNU_SOURCE\n${source}`)
  const argv = ["-o", program, `${program}.c`, "-pthread", ...words]
  const isBuilt = await promisify(execFile)("cc", argv).then(
    () => true,
    () => false,
  )
  return isBuilt ? program : skip("there is no C compiler, or no static library of it")
}

async function prepare(tool: string) {
  return await createWarmTaskSandbox(sandbox, folder, [{ tool, access }], "tool")
}

function run(taskSandbox: TaskSandbox, tool: string, argv: string[] = []) {
  const cwd = taskSandbox.warmSandbox?.folder ?? folder
  const { signal } = new AbortController()
  const spec = { taskSandbox, tool, argv, cwd, access, signal, timeLimitMs: 10_000 }
  return startToolProcess({ ...spec, stdoutBytesMax: 4096 }).finished
}

function taken(place: TaskSandbox | null): TaskSandbox {
  if (place === null) throw new Error("No place is ready.")
  return place
}

describe("a tool in a warm sandbox", () => {
  test("does not notice the hold, and executes no program, not even itself", async ({ skip }) => {
    const tool = await compile(CURIOUS, skip)
    const prepared = await prepare(tool)
    expect(await prepared.warmSandbox.ready).toBe(true)
    const end = await run(prepared, tool, ["word"])
    expect(end).toMatchObject({ exitCode: 0, stdout: "1 1 plain word\n1\n1\n" })
    expect(prepared.warmSandbox.countStarted()).toBe(1)
    await destroyTaskSandbox(prepared, null)
  })

  test.for<[string, string, string[]]>([
    ["is linked statically", GREETING, ["-static"]],
    ["has threads before its main()", THREADED, []],
  ])("is not held if it %s, and starts cold", async ([, source, words], { skip }) => {
    const tool = await compile(source, skip, ...words)
    const prepared = await prepare(tool)
    expect(await prepared.warmSandbox.ready).toBe(false)
    expect(await run(prepared, tool)).toMatchObject({ exitCode: 0, stdout: "hello\n" })
    expect(prepared.warmSandbox.countStarted()).toBe(0)
    await destroyTaskSandbox(prepared, null)
  })

  test("is replaced by a waiting launcher if it cannot be held", async ({ skip }) => {
    const tool = await compile(GREETING, skip, "-static")
    const toolPaths = { ...settings.toolPaths, ffprobe: tool }
    const places = createWarmSandboxPool({
      ...settings,
      toolPaths,
      workDir: folder,
      warmSandboxesMax: 1,
    })
    places.open(sandbox)
    const taskSandbox = await vi.waitFor(() => taken(places.take("light")), 60_000)
    expect(await run(taskSandbox, tool)).toMatchObject({ exitCode: 0, stdout: "hello\n" })
    expect(taskSandbox.warmSandbox?.countStarted()).toBe(1)
    await destroyTaskSandbox(taskSandbox, null)
    await places.close()
  })
})
