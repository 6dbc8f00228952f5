import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const HOSTS = "::1 both.test\n127.0.0.2 both.test\n"
const MODULE = resolve("container/egress/resolve-host.ts")
const PROGRAM = `
  const { resolveHost } = await import(${JSON.stringify(MODULE)})
  console.log(JSON.stringify(await resolveHost("both.test", true)))
`

test.runIf(process.getuid?.() === 0)(
  "a host that the operator allows lists its IPv4 addresses first",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "lathe-hosts-"))
    const hosts = join(folder, "hosts")
    await writeFile(hosts, HOSTS)
    const script = 'mount --bind "$1" /etc/hosts && exec "$2" --input-type=module --eval "$3"'
    const words = ["--mount", "sh", "-c", script, "sh", hosts, process.execPath, PROGRAM]
    const { stdout } = await promisify(execFile)("unshare", words)
    await rm(folder, { recursive: true })
    expect(JSON.parse(stdout)).toEqual([
      { address: "127.0.0.2", family: 4 },
      { address: "::1", family: 6 },
    ])
  },
)
