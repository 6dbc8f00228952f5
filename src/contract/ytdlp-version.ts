import { z } from "zod"

/** A release of yt-dlp, and the SHA-256 of its wheel in small hexadecimal digits. */
export type YtdlpVersion = { version: string; sha256: string }

const EXPECTED =
  'expected one version and the SHA-256 of its wheel, as "2026.10.26 sha256:<64 hexadecimal digits>"'
const FORM = /^(\d{4}(?:\.\d{1,6}){2,3}(?:\.dev\d+)?)[ \t]+sha256:([0-9a-f]{64})$/i

/**
 * The setting YTDLP_VERSION. Leading zeros of a part (2026.08.19) count for nothing, as in the names
 * of wheels.
 */
export const ytdlpVersion = z.string().transform((text, context): YtdlpVersion => {
  const [, version, sha256] = FORM.exec(text.trim()) ?? []
  if (version !== undefined && sha256 !== undefined) {
    return { version: normalVersion(version), sha256: sha256.toLowerCase() }
  }
  context.addIssue({ code: "custom", message: EXPECTED })
  return z.NEVER
})

/** A version of yt-dlp as pip writes it: 2026.08.19 is 2026.8.19. */
export function normalVersion(version: string): string {
  return version.replaceAll(/(?<=^|\.)0+(?=\d)/g, "")
}
