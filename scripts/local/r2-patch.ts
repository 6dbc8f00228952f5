import fs from "node:fs"

type Edit = { from: string; to: string; times: number }

/** Changes of Miniflare's R2 worker; `times` is how often `from` occurs in the pinned text. */
const edits: Edit[] = [
  {
    from: "this.blob.put(value.pipeThrough(digesting))",
    to: "this.blob.put(digestInLargeSteps(value, digesting))",
    times: 2,
  },
  {
    from: "}), this.digests = digests;",
    to: `}), this.digests = digests, this.hashWriters = hashes.map((hash) => hash.writer), this.finish = async () => {
      let result = new Map();
      for (let i = 0; i < hashes.length; i++)
        await hashes[i].writer.close(), result.set(algorithms[i], Buffer3.from(await hashes[i].stream.digest));
      digests.resolve(result);
    };`,
    times: 1,
  },
  {
    from: "let identity2 = new TransformStream();\n    return (async () => {",
    to: "return { pipeTo: async (target) => {\n      let writer = target.getWriter();",
    times: 1,
  },
  {
    from: "await value.pipeTo(identity2.writable, { preventClose: !0 }), this",
    to: "await readInLargeSteps(value, (chunk) => writer.write(chunk)), this",
    times: 1,
  },
  { from: "await identity2.writable.close();", to: "await writer.close();", times: 1 },
  { from: "await identity2.writable.abort(e);", to: "await writer.abort(e);", times: 1 },
  { from: "})(), identity2.readable;", to: "} };", times: 1 },
]

const additions = `
async function readInLargeSteps(source, take) {
  let reader = source.getReader({ mode: "byob" });
  let room = new Uint8Array(262144);
  for (;;) {
    let { done, value } = await reader.read(room);
    if (value?.byteLength) await take(value);
    if (done) return;
    room = new Uint8Array(value.buffer);
  }
}
function digestInLargeSteps(source, digesting) {
  let { readable, writable } = new IdentityTransformStream(), writer = writable.getWriter();
  (async () => {
    try {
      await readInLargeSteps(source, async (chunk) => {
        for (let hash of digesting.hashWriters) await hash.write(chunk);
        await writer.write(chunk);
      });
      await writer.close();
      await digesting.finish();
    } catch (e) {
      await writer.abort(e);
    }
  })();
  return readable;
}
`

/** The text of Miniflare's R2 worker, changed to move 256 KiB at a time; throws on another text. */
export function patchR2Text(text: string): string {
  let patched = text
  for (const { from, to, times } of edits) {
    const pieces = patched.split(from)
    if (pieces.length !== times + 1) {
      throw new Error(
        `the R2 worker of this Miniflare is not the one that scripts/local/r2-patch.ts knows: ` +
          `${JSON.stringify(from)} stands ${pieces.length - 1} times in it, not ${times}`,
      )
    }
    patched = pieces.join(to)
  }
  return patched + additions
}

/** Has Miniflare, which reads its R2 worker once from disk, read the patched text. */
export function patchR2(): void {
  const readFileSync = fs.readFileSync
  function readPatched(...call: Parameters<typeof readFileSync>) {
    const content = readFileSync(...call)
    if (typeof content !== "string" || !isR2Worker(call[0])) return content
    fs.readFileSync = readFileSync
    return patchR2Text(content)
  }
  Object.assign(fs, { readFileSync: readPatched })
}

function isR2Worker(path: unknown): boolean {
  return typeof path === "string" && /[\\/]r2[\\/]bucket\.worker\.js$/.test(path)
}
