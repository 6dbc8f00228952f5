import { createHash, randomBytes } from "node:crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { access, chmod, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { Socket, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Targets of attacks; a sandbox must let nothing read, change or reach them. */
export type CanaryPaths = {
  /** A folder that every user may enter and write to; its files are of every kind. */
  outside: string
  /** A name that no other attack uses, for files in folders that all share. */
  name: string
  /** The folder of the workspaces; an input of somebody else lies in one of them. */
  work: string
  /** The state folder of the service. */
  state: string
  tcpPort: number
  udpPort: number
  unixPath: string
}

/** Texts and files by name that an attack left visible to its sender. */
export type Evidence = Record<string, string | Uint8Array>

export type Canaries = AsyncDisposable & {
  place: CanaryPaths
  /** Canaries that were read, changed or reached; empty if the sandbox held. */
  damage(evidence: Evidence): Promise<string[]>
}

const SHARED_FOLDERS = ["/tmp", "/dev/shm", "/var/tmp"]
const ARRIVAL_MS = 20

/** A text that is nowhere else, and that survives as it is in what ffmpeg copies. */
export function makeMarker(): string {
  return `canary${randomBytes(8).toString("hex")}`
}

/** Opens canaries of their own for one attack; `others` are secrets that lie elsewhere. */
export async function openCanaries(
  around: { work: string; state: string; media: Record<string, Uint8Array> },
  others: readonly string[],
): Promise<Canaries> {
  const marker = makeMarker()
  const outside = await mkdtemp(join(tmpdir(), "lathe-outside-"))
  const files = { ...filesWith(marker), ...around.media }
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(outside, name), content)
    await chmod(join(outside, name), 0o666)
  }
  await chmod(outside, 0o777)
  const listeners = await openListeners(join(outside, "socket"))
  const before = (await readdir(outside)).toSorted()
  const { tcpPort, udpPort, unixPath, reached } = listeners
  const { work, state } = around
  const name = `lathe-${randomBytes(8).toString("hex")}`
  const place = { outside, name, work, state, tcpPort, udpPort, unixPath }
  const written = [...SHARED_FOLDERS, state, work].map((folder) => join(folder, name))
  return {
    place,
    async damage(evidence) {
      await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS))
      const found = Object.entries(evidence).filter(([, content]) =>
        [marker, ...others].some((secret) => holds(content, secret)),
      )
      return [
        ...found.map(([name]) => `a secret is in ${name}`),
        ...(await changedFiles(outside, files)).map((name) => `${name} was changed`),
        ...(await readdir(outside))
          .filter((name) => !before.includes(name))
          .map((name) => `${name} was written outside`),
        ...(await existing(written)).map((path) => `${path} was written`),
        ...reached().map((name) => `${name} was reached`),
      ]
    },
    async [Symbol.asyncDispose]() {
      listeners.close()
      for (const path of [outside, ...written]) await rm(path, { recursive: true, force: true })
    },
  }
}

function filesWith(marker: string): Record<string, string | Uint8Array> {
  return {
    secret: marker,
    "words.srt": `1\n00:00:00,000 --> 00:00:09,000\n${marker}\n`,
    "words.ass": [
      "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]",
      "Format: Name, Fontname, Fontsize, PrimaryColour, Alignment",
      "Style: Default,Sans,60,&H00FFFFFF,5\n\n[Events]",
      "Format: Layer, Start, End, Style, Text",
      `Dialogue: 0,0:00:00.00,0:00:09.00,Default,${marker}\n`,
    ].join("\n"),
    preset: `${marker}=1\n`,
    lines: `first\n${marker}\nthird\n`,
    "words.txt": `;FFMETADATA1\ntitle=${marker}\n`,
    "words.sub": `{0}{250}${marker}\n`,
    "sound.wav": waveOf(marker.repeat(100)),
  }
}

/** Samples as a sound of 8 bits, so that they come back as they are. */
function waveOf(samples: string): Buffer {
  const header = Buffer.from(
    "RIFF....WAVEfmt \u0010\0\0\0\u0001\0\u0001\0........\u0001\0\u0008\0data....",
    "latin1",
  )
  header.writeUInt32LE(36 + samples.length, 4)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(8000, 28)
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, Buffer.from(samples)])
}

/** Whether bytes hold a secret, as it is or as a command may have turned it. */
export function holds(content: string | Uint8Array, secret: string): boolean {
  const text = Buffer.from(content).toString("latin1")
  const bytes = Buffer.from(secret)
  const wide = Buffer.concat([...bytes].map((byte) => Buffer.from([byte, 0])))
  const forms = [
    secret,
    secret.split("").toReversed().join(""),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    // Whole groups of three from each place that a group can begin at.
    ...[0, 1, 2].map((from) => bytes.subarray(from, from + 9).toString("base64")),
    wide.toString("latin1"),
    Buffer.from(bytes.map((byte) => byte ^ 0x80)).toString("latin1"),
    createHash("md5").update(secret).digest("hex"),
    createHash("sha256").update(secret).digest("hex"),
  ]
  return forms.some((form) => text.includes(form))
}

async function changedFiles(
  folder: string,
  files: Record<string, string | Uint8Array>,
): Promise<string[]> {
  const changed: string[] = []
  for (const [name, content] of Object.entries(files)) {
    const found = await readFile(join(folder, name)).catch(() => Buffer.alloc(0))
    if (!found.equals(Buffer.from(content))) changed.push(name)
  }
  return changed
}

async function existing(paths: string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    await access(path).then(
      () => found.push(path),
      () => undefined,
    )
  }
  return found
}

async function openListeners(unixPath: string) {
  const reached = new Set<string>()
  function note(name: string): (socket: unknown) => void {
    return (socket) => {
      reached.add(name)
      if (socket instanceof Socket) socket.on("error", () => undefined).destroy()
    }
  }
  const tcp = createServer(note("the TCP port")).listen(0, "127.0.0.1")
  const unix = createServer(note("the UNIX socket")).listen(unixPath)
  const udp = createSocket("udp4", note("the UDP port"))
  udp.bind(0, "127.0.0.1")
  await Promise.all([once(tcp, "listening"), once(unix, "listening"), once(udp, "listening")])
  await chmod(unixPath, 0o666)
  const address = tcp.address()
  return {
    tcpPort: typeof address === "object" ? (address?.port ?? 0) : 0,
    udpPort: udp.address().port,
    unixPath,
    reached: () => [...reached],
    close() {
      tcp.close()
      unix.close()
      udp.close()
    },
  }
}
