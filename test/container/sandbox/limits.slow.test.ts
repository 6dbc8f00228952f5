import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  SANDBOX_TIERS,
  createTierSandbox,
} from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { startToolProcess } from "../../../container/sandbox/start-process.ts"
import { destroyTaskSandbox, createTaskSandbox } from "../../../container/sandbox/task-sandbox.ts"
import { createWorkspace } from "../../../container/sandbox/workspace.ts"
import { DEFAULT_TOOL_LIMITS } from "../../../container/settings.ts"
import type { ToolLimits } from "../../../container/settings.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const MIB = 1024 ** 2
const tiers = await listSupportedTiers()

/** Arguments of an endless source. */
const ENDLESS = "-f lavfi -i color=s=1280x720"

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-limits-"))
})

afterEach(() => rm(folder, { recursive: true }))

describe.for(SANDBOX_TIERS)("in the tier %s", (tier) => {
  beforeEach(({ skip }) => skip(!tiers.includes(tier), "this machine does not support it"))

  async function run(tool: string, words: string, limits: Partial<ToolLimits>) {
    const settings = makeTestRunnerSettings()
    const all = { ...DEFAULT_TOOL_LIMITS, ...limits }
    const taskSandbox = createTaskSandbox(createTierSandbox(tier, { ...settings, limits: all }))
    const run = { taskId: crypto.randomUUID(), fence: 1 }
    const cwd = await createWorkspace(join(folder, "work"), run, taskSandbox.uid)
    const argv = words.split(" ").filter(Boolean)
    const spec = { tool, argv, taskSandbox, cwd, access: "write" as const, timeLimitMs: 15_000 }
    const { signal } = new AbortController()
    const end = await startToolProcess({ ...spec, signal, stdoutBytesMax: 1000 }).finished
    await destroyTaskSandbox(taskSandbox, cwd)
    return end
  }

  /** Compiles a program; null without a compiler. */
  async function compile(source: string, ...words: string[]): Promise<string | null> {
    const program = join(folder, "program")
    await writeFile(`${program}.c`, source)
    return await promisify(execFile)("cc", [...words, "-o", program, `${program}.c`]).then(
      () => program,
      () => null,
    )
  }

  beforeEach(async () => {
    // mkdtemp sets mode 0700, but the tool's user must be able to enter the folder.
    await promisify(execFile)("chmod", ["711", folder])
  })

  function runFfmpeg(words: string, limits: Partial<ToolLimits>) {
    return run("ffmpeg", `-nostdin -v error -y ${words}`, limits)
  }

  test("a tool that exceeds its memory is killed with out_of_memory", async () => {
    const words = "-f lavfi -i testsrc2=s=1920x1080:d=60 -vf reverse -f null -"
    const end = await run("ffmpeg", words, { residentBytes: 300 * MIB })
    expect(end).toMatchObject({ cause: "out_of_memory", signal: "SIGKILL" })
  })

  test("a workspace that grows too large kills its tool", async () => {
    const words = `${ENDLESS} -f segment -segment_time 0.1 -c:v rawvideo -f rawvideo out.raw`
    const end = await runFfmpeg(words, { workspaceBytes: 50 * MIB })
    expect(end).toMatchObject({ cause: "disk_limit", signal: "SIGKILL" })
  })

  test("a tool that exceeds its limit before the first poll is detected", async () => {
    const words = "-f lavfi -i color=s=640x360 -frames:v 20 -f rawvideo out.raw"
    const end = await runFfmpeg(words, { workspaceBytes: 2 * MIB })
    expect(end).toMatchObject({ cause: "disk_limit" })
  })

  test("a sparse file counts with its full size", async () => {
    const words = "-f lavfi -i color=s=64x36 -frames:v 5 -c:v mpeg4 -movflags frag_keyframe"
    const end = await runFfmpeg(`${words} -moov_size 2000000000 out.mp4`, {
      workspaceBytes: 1024 * MIB,
    })
    expect(end).toMatchObject({ cause: "disk_limit" })
  })

  test.for([
    "-movflags faststart out.mp4",
    "-moov_size 1000000 out.mov",
    "-movflags frag_keyframe -moov_size 1000000 out.mp4",
    "-reserve_index_space 1000000 out.mkv",
  ])("an index within the limits is allowed: %s", async (words) => {
    const source = "-f lavfi -i color=s=64x36 -frames:v 5 -c:v mpeg4"
    const end = await runFfmpeg(`${source} ${words}`, { workspaceBytes: 4 * MIB })
    expect(end).toMatchObject({ cause: null, exitCode: 0 })
  })

  test("a workspace with too many files kills its tool", async () => {
    const end = await runFfmpeg("-f lavfi -i color=s=16x16 %d.png", { workspaceFiles: 200 })
    expect(end).toMatchObject({ cause: "disk_limit", signal: "SIGKILL" })
  })

  test("a file that grows too large kills its tool", async () => {
    const end = await runFfmpeg(`${ENDLESS} -f rawvideo out.raw`, { fileBytes: 20 * MIB })
    expect(end).toMatchObject({ cause: "file_limit", signal: "SIGXFSZ" })
  })

  test("exhausted processor time kills its tool", async () => {
    const words = "-threads 1 -f lavfi -i testsrc2=s=640x360 -f null -"
    const end = await runFfmpeg(words, { cpuSeconds: 1 })
    expect(end.cause).toBe("cpu_limit")
    expect(end.wallMs).toBeLessThan(10_000)
  })

  test("a tool that prints too much is killed", async () => {
    const end = await runFfmpeg(`${ENDLESS} -f rawvideo pipe:1`, { logBytes: 5 * MIB })
    expect(end).toMatchObject({ cause: "output_limit", signal: "SIGKILL" })
    expect(end.stdout.length).toBe(1000)
  })

  test.for([
    ["open", "sleep(10);"],
    ["open in a second thread alone", "end_first_thread();"],
    ["mapped", "mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0); close(file); sleep(10);"],
  ])("a deleted file that is still %s kills its tool", async ([, holding], { skip }) => {
    const source = `
      #include <fcntl.h>
      #include <pthread.h>
      #include <sys/mman.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      static char block[1 << 20];
      static void *rest(void *nothing) { sleep(10); return nothing; }
      static void end_first_thread(void) {
        pthread_t thread;
        pthread_create(&thread, NULL, rest, NULL);
        syscall(SYS_exit, 0);
      }
      int main() {
        int file = open("gone", O_RDWR | O_CREAT, 0600);
        if (file < 0 || unlink("gone") != 0) return 1;
        for (int i = 0; i < 100; i++) if (write(file, block, sizeof block) < 0) return 2;
        ${holding}
      }`
    const program = await compile(source, "-pthread")
    if (program === null) return skip("there is no C compiler")
    const end = await run(program, "", { workspaceBytes: 50 * MIB })
    expect(end).toMatchObject({ cause: "disk_limit", signal: "SIGKILL" })
  })

  test("a small deleted file is allowed", async ({ skip }) => {
    const source = `
      #include <fcntl.h>
      #include <unistd.h>
      int main() {
        int file = open("gone", O_RDWR | O_CREAT, 0600);
        if (file < 0 || unlink("gone") != 0 || write(file, "x", 1) != 1) return 1;
        sleep(1);
      }`
    const program = await compile(source)
    if (program === null) return skip("there is no C compiler")
    expect(await run(program, "", {})).toMatchObject({ cause: null, exitCode: 0 })
  })

  test("an unnamed file is refused as on a file system without them", async ({ skip }) => {
    const source = `
      #define _GNU_SOURCE
      #include <fcntl.h>
      #include <stdio.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      int main() {
        if (open(".", O_TMPFILE | O_RDWR, 0600) < 0) perror("open");
        if (openat(AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 0600) < 0) perror("openat");
      #ifdef SYS_open
        if (syscall(SYS_open, ".", O_TMPFILE | O_RDWR, 0600) < 0) perror("old open");
      #endif
        return open(".", O_RDONLY | O_DIRECTORY) < 0;
      }`
    const program = await compile(source)
    if (program === null) return skip("there is no C compiler")
    const end = await run(program, "", {})
    const tried = process.arch === "x64" ? ["open", "openat", "old open"] : ["open", "openat"]
    expect(end.exitCode).toBe(0)
    expect(end.stderrTail.trim().split("\n")).toEqual(
      tried.map((each) => `${each}: Operation not supported`),
    )
  })

  test("threads share two arenas, each of which uses address space", async ({ skip }) => {
    const source = `
      #include <malloc.h>
      #include <pthread.h>
      #include <stdio.h>
      #include <stdlib.h>
      static pthread_barrier_t all;
      static void *allocate(void *nothing) {
        void *block = malloc(1000);
        pthread_barrier_wait(&all);
        pthread_barrier_wait(&all);
        free(block);
        return nothing;
      }
      int main() {
        pthread_t thread;
        pthread_barrier_init(&all, NULL, 21);
        for (int i = 0; i < 20; i++) if (pthread_create(&thread, NULL, allocate, NULL) != 0) return 1;
        pthread_barrier_wait(&all);
        malloc_info(0, stderr);
        pthread_barrier_wait(&all);
      }`
    const program = await compile(source, "-pthread")
    if (program === null) return skip("there is no C compiler with malloc_info")
    const { exitCode, stderrTail } = await run(program, "", {})
    expect(exitCode).toBe(0)
    expect(stderrTail.match(/<heap nr=/g)).toHaveLength(2)
  })

  test("memory beyond the limit cannot be allocated", async () => {
    const words = "-f lavfi -i color=s=8000x8000:d=1 -c:v libx264 out.mp4"
    const end = await runFfmpeg(words, { memoryBytes: 1024 * MIB })
    expect(end.exitCode).not.toBe(0)
    expect(end.stderrTail).toMatch(/malloc of size \d+ failed|Cannot allocate memory/)
  })
})
