import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeEach, describe, expect, test } from "vitest"
import { ALL_VARIANTS, openSandboxLab } from "./lab.ts"

const SOURCE = `
  #include <pthread.h>
  #include <stdio.h>
  #include <unistd.h>
  static void *rest(void *nothing) { sleep(100); return nothing; }
  int main(void) {
    pthread_t thread;
    int count = 0;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    while (count < 6000 && pthread_create(&thread, &small, rest, NULL) == 0) count++;
    printf("%d", count);
  }`

describe.concurrent.for(ALL_VARIANTS)("the tier $how", (variant) => {
  beforeEach(({ skip }) => skip(!variant.isSupported, "this machine does not support it"))

  test("bounds the threads of a tool, whatever else its user runs", async ({ skip }) => {
    await using lab = await openSandboxLab(variant, { threads: 50 })
    const program = join(lab.outside, "../threads")
    await writeFile(`${program}.c`, SOURCE)
    const argv = ["-pthread", "-o", program, `${program}.c`]
    const isBuilt = await promisify(execFile)("cc", argv).then(
      () => true,
      () => false,
    )
    if (!isBuilt) skip("there is no C compiler")
    const { text } = await lab.run(program, [])
    expect(Number(text)).toBeGreaterThan(10)
    // The limit is added to the user's other threads, some of which may end meanwhile.
    expect(Number(text)).toBeLessThan(100)
  })
})
