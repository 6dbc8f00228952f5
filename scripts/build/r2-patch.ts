import type { TextEdit, MiniflarePatch } from "./miniflare-patch.ts"

const edits: TextEdit[] = [
  {
    from: 'let digesting = new DigestingStream(["MD5"]), blobId = await this.blob.put(value.pipeThrough(digesting)), md5Digest = (await digesting.digests).get("MD5");',
    to: "let blobId = await this.blob.put(value), md5Digest = Buffer3.from(crypto.getRandomValues(new Uint8Array(16)));",
    times: 1,
  },
  {
    from: "this.blob.put(value.pipeThrough(digesting))",
    to: "this.blob.put(digestInLargeSteps(value, digesting))",
    times: 1,
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

/**
 * Patch of Miniflare's R2 worker. The worker copies bytes in steps of 256 KiB, and passes the bytes
 * of an uploaded part to workerd without reading them. A part gets a random value instead of its
 * MD5, because only the etag of the whole object uses the MD5.
 */
export const miniflareR2Patch: MiniflarePatch = {
  worker: "R2",
  path: /[\\/]r2[\\/]bucket\.worker\.js$/,
  edits,
  additions,
}
