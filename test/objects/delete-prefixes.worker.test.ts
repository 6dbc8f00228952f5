import { env } from "cloudflare:workers"
import { expect, it, vi } from "vitest"
import {
  deleteObjectsBelowFolderPrefixes,
  groupPrefixesByFolder,
} from "../../src/objects/delete-prefixes.ts"

const FOLDER = "account/tasks/"

/** Prefixes like those of tasks' outputs, in R2's order. */
const prefixes = Array.from({ length: 400 }, (_, at) => {
  return `${FOLDER}${String(at).padStart(6, "0")}/1/out_1/`
})

async function store(keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += 50) {
    await Promise.all(keys.slice(at, at + 50).map((key) => env.MEDIA.put(key, "x")))
  }
}

async function keysLeft(): Promise<string[]> {
  const { objects } = await env.MEDIA.list({ prefix: "account/" })
  return objects.map(({ key }) => key)
}

it("removes adjacent objects by few calls, and nothing else", async () => {
  const kept = ["account/tasks/000399/2/out_1/media", "account/uploads/1/media", `${FOLDER}9/1/a`]
  await store([...kept, ...prefixes.map((prefix) => `${prefix}media`)])
  const { MEDIA: bucket } = env
  const [list, remove] = [vi.spyOn(bucket, "list"), vi.spyOn(bucket, "delete")]
  await deleteObjectsBelowFolderPrefixes(bucket, FOLDER, prefixes)
  const calls = [list, remove].map((method) => method.mock.calls.length)
  vi.restoreAllMocks()
  expect(calls).toEqual([1, 1])
  expect(await keysLeft()).toEqual(kept.toSorted())
  await env.MEDIA.delete(kept)
})

it("removes a prefix with more objects than a page, beside many objects that stay", async () => {
  const many = Array.from({ length: 45 }, (_, at) => `${prefixes[200]}members/${at} 😀.png`)
  const kept = prefixes.filter((_, at) => at !== 200).map((prefix) => `${prefix}media`)
  await store([...many, ...kept])
  await deleteObjectsBelowFolderPrefixes(env.MEDIA, FOLDER, [
    prefixes[200] ?? "",
    `${FOLDER}nothing/1/`,
  ])
  expect(await keysLeft()).toEqual(kept)
  const some = prefixes.filter((_, at) => at % 40 === 0 && at !== 200)
  await deleteObjectsBelowFolderPrefixes(env.MEDIA, FOLDER, some)
  expect(await keysLeft()).toEqual(kept.filter((key) => !some.some((own) => key.startsWith(own))))
  await env.MEDIA.delete(await keysLeft())
})

it("removes nothing for a malformed prefix", async () => {
  await store(["account/a"])
  await deleteObjectsBelowFolderPrefixes(env.MEDIA, "", [""])
  expect(await keysLeft()).toEqual(["account/a"])
})

it("groups prefixes of a folder, and keeps any other separate", () => {
  const grouped = groupPrefixesByFolder([
    "a/tasks/1/2/",
    "b/tasks/1/2/",
    "a/tasks/3/1/",
    "a/tasks/",
    "odd/",
  ])
  expect(Object.fromEntries(grouped)).toEqual({
    "a/tasks/": ["a/tasks/1/2/", "a/tasks/3/1/", "a/tasks/"],
    "b/tasks/": ["b/tasks/1/2/"],
    "odd/": ["odd/"],
  })
})
