import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

/**
 * Order in which Vitest starts test files. Files that deploy or start the whole service come first,
 * because a slow file that starts last would run alone.
 */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  if (moduleId.includes("/test/scripts/deploy/")) return 0
  return project.name === "system" ? 1 : 2
}
