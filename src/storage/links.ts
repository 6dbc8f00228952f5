import { sign, verify } from "../crypto/signature.ts"

const PURPOSE = "link"

const DISPOSITIONS = ["attachment", "inline"] as const
export type Disposition = (typeof DISPOSITIONS)[number]

/** What a download link opens: one file of one account until a moment, shown or saved. */
export type Link = {
  accountId: string
  fileId: string
  expiresAt: number
  disposition: Disposition
}

/** The token of a link, made to stand in a path. */
export async function makeLinkToken(secret: string, link: Link): Promise<string> {
  const text = [link.accountId, link.fileId, link.expiresAt, link.disposition].join(".")
  return `${text}.${await sign(secret, PURPOSE, text)}`
}

/** The link of a token, expired or not; null where a character of it was changed. */
export async function readLinkToken(secret: string, token: string): Promise<Link | null> {
  const [accountId = "", fileId = "", expires = "", named = "", signature = "", ...rest] =
    token.split(".")
  const text = [accountId, fileId, expires, named].join(".")
  const disposition = DISPOSITIONS.find((known) => known === named)
  if (!disposition || rest.length > 0) return null
  if (!(await verify(secret, PURPOSE, { text, signature }))) return null
  return { accountId, fileId, expiresAt: Number(expires), disposition }
}
