import { expect, it } from "vitest"
import { decryptText, encryptText } from "../../../src/platform/crypto/sealed-text.ts"

const SECRET = "a secret of the service, of many letters"
const USE = { purpose: "task secrets", owner: "01a20a03-62d1-72e0-9288-35024790ba4c" }

it.each(["", "a=b", "käse 🧀", "\u0000\n\t", "x".repeat(262_144)])(
  "a sealed text opens under its secret, for its use (%#)",
  async (text) => {
    const sealed = await encryptText(SECRET, USE, text)
    expect(sealed).toMatch(/^v1\.[\w-]{16}\.[\w-]{22,}$/)
    expect(await decryptText(SECRET, USE, sealed)).toBe(text)
  },
)

it("a sealed text hides its text, and differs each time", async () => {
  const text = "the-same-text-again-and-again"
  const sealed = [await encryptText(SECRET, USE, text), await encryptText(SECRET, USE, text)]
  expect(sealed[0]).not.toBe(sealed[1])
  for (const each of sealed) {
    for (const shown of [text, btoa(text)]) expect(each).not.toContain(shown.slice(0, 12))
  }
})

it("a sealed text does not open under another secret, purpose or row", async () => {
  const sealed = await encryptText(SECRET, USE, "text")
  expect(await decryptText(`${SECRET}.`, USE, sealed)).toBeNull()
  expect(await decryptText(SECRET, { ...USE, purpose: "api-key" }, sealed)).toBeNull()
  expect(await decryptText(SECRET, { ...USE, owner: "another" }, sealed)).toBeNull()
})

it("a text that was changed, cut, or never sealed does not open", async () => {
  const sealed = await encryptText(SECRET, USE, "text")
  const [version, nonce = "", ciphertext = ""] = sealed.split(".")
  const flipped = `${ciphertext.startsWith("A") ? "B" : "A"}${ciphertext.slice(1)}`
  const changed = [
    `v2.${nonce}.${ciphertext}`,
    `${version}.${nonce.slice(1)}.${ciphertext}`,
    `${version}.${nonce}.${flipped}`,
    `${version}.${nonce}.${ciphertext.slice(0, -4)}`,
    `${version}.${nonce}.`,
    `${version}.${nonce}.!!!`,
    version ?? "",
    "",
    '{"cookies":"a=b"}',
  ]
  for (const each of changed)
    expect([each, await decryptText(SECRET, USE, each)]).toEqual([each, null])
})
