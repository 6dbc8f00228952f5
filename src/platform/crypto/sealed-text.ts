import { fromBase64Url, toBase64Url } from "./signature.ts"

type SealingKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const VERSION = "v1"
const NONCE_BYTES = 12

const keys = new Map<string, Promise<SealingKey>>()

/**
 * Context of an encrypted text: the purpose of the text, and the id of the row that owns it. The
 * text can be decrypted only with the same context.
 */
export type EncryptionContext = { purpose: string; owner: string }

/**
 * Encrypts a text with AES-256-GCM. HKDF-SHA-256 derives one encryption key per purpose from the
 * secret. Returns `v1.<nonce>.<ciphertext and tag>`, with the nonce and the ciphertext in
 * base64url.
 */
export async function encryptText(
  secret: string,
  use: EncryptionContext,
  text: string,
): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const key = await keyOf(secret, use.purpose)
  const bytes = await crypto.subtle.encrypt(cipherOf(iv, use), key, encode(text))
  return [VERSION, toBase64Url(iv), toBase64Url(new Uint8Array(bytes))].join(".")
}

/**
 * Decrypts a text that `encryptText` encrypted. Returns null if the secret or the context differs,
 * or if the text was changed.
 */
export async function decryptText(
  secret: string,
  use: EncryptionContext,
  sealed: string,
): Promise<string | null> {
  const [version, nonce = "", ciphertext = ""] = sealed.split(".")
  const [iv, bytes] = [fromBase64Url(nonce), fromBase64Url(ciphertext)]
  if (version !== VERSION || iv?.byteLength !== NONCE_BYTES || !bytes) return null
  const key = await keyOf(secret, use.purpose)
  const opened = await crypto.subtle.decrypt(cipherOf(iv, use), key, bytes).catch(() => null)
  return opened && new TextDecoder().decode(opened)
}

function cipherOf(iv: Uint8Array<ArrayBuffer>, { owner }: EncryptionContext) {
  return { name: "AES-GCM", iv, additionalData: encode(owner) }
}

function keyOf(secret: string, purpose: string): Promise<SealingKey> {
  const name = `${purpose}\n${secret}`
  const cached = keys.get(name)
  if (cached) return cached
  const key = deriveKey(secret, purpose)
  keys.set(name, key)
  return key
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
