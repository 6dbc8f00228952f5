import { MEMBERS_MAX } from "../../../src/contract/bundle.ts"
import type { Member } from "../../../src/contract/bundle.ts"

/**
 * Returns bundle members whose names become longest in JSON, with content types near the maximum
 * length.
 */
export function longMembers(count = MEMBERS_MAX): Member[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${'"'.repeat(75)}${index}`,
    size_bytes: 1,
    content_type: `image/${"x".repeat(190)}`,
    crc32: 0xffff_ffff,
  }))
}
