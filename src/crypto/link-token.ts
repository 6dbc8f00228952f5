import { sha256Hex } from "./sha256.ts"
import { toBase64Url } from "./signature.ts"

const TOKEN_BYTES = 32

/** A new secret of a link that is mailed; nobody guesses it. */
export function makeLinkToken(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)))
}

/** SHA-256 of such a secret, hexadecimal: all that is stored of it. */
export async function hashLinkToken(token: string): Promise<string> {
  return await sha256Hex(token)
}
