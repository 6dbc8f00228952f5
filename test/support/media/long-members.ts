import { MEMBERS_MAX } from "../../../src/contract/bundle.ts"
import type { Member } from "../../../src/contract/bundle.ts"

/** Members with names that JSON writes longest, and types as long as a report may have them. */
export function longMembers(count = MEMBERS_MAX): Member[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${'"'.repeat(75)}${index}`,
    size_bytes: 1,
    content_type: `image/${"x".repeat(190)}`,
    crc32: 0xffff_ffff,
  }))
}
