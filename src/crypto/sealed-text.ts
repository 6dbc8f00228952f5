import { fromBase64Url, toBase64Url } from "./signature.ts"

type SealingKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const VERSION = "v1"
const NONCE_BYTES = 12

const keys = new Map<string, Promise<SealingKey>>()

/** The use of a sealed text: what for, and of which row, so that it opens in no other place. */
export type Use = { purpose: string; owner: string }

/**
 * Encrypts a text by AES-256-GCM under a key that HKDF-SHA-256 derives from a secret for one purpose.
 * Answers `v1.<nonce>.<ciphertext and tag>`, both base64url.
 */
export async function sealText(secret: string, use: Use, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const key = await keyOf(secret, use.purpose)
  const bytes = await crypto.subtle.encrypt(cipherOf(iv, use), key, encode(text))
  return [VERSION, toBase64Url(iv), toBase64Url(new Uint8Array(bytes))].join(".")
}

/** The text that `sealText` made; null where the secret or the use is another one, or a bit of it. */
export async function openText(secret: string, use: Use, sealed: string): Promise<string | null> {
  const [version, nonce = "", ciphertext = ""] = sealed.split(".")
  const [iv, bytes] = [fromBase64Url(nonce), fromBase64Url(ciphertext)]
  if (version !== VERSION || iv?.byteLength !== NONCE_BYTES || !bytes) return null
  const key = await keyOf(secret, use.purpose)
  const opened = await crypto.subtle.decrypt(cipherOf(iv, use), key, bytes).catch(() => null)
  return opened && new TextDecoder().decode(opened)
}

function cipherOf(iv: Uint8Array<ArrayBuffer>, { owner }: Use) {
  return { name: "AES-GCM", iv, additionalData: encode(owner) }
}

function keyOf(secret: string, purpose: string): Promise<SealingKey> {
  const name = `${purpose}\n${secret}`
  const known = keys.get(name)
  if (known) return known
  const made = deriveKey(secret, purpose)
  keys.set(name, made)
  return made
}

async function deriveKey(secret: string, purpose: string): Promise<SealingKey> {
  const material = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, [
    "deriveKey",
  ])
  const info = encode(`lathe ${purpose}`)
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info }
  const cipher = { name: "AES-GCM", length: 256 }
  return await crypto.subtle.deriveKey(derivation, material, cipher, false, ["encrypt", "decrypt"])
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text))
}
