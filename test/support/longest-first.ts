import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

/**
 * The order in which files of tests start: those that deploy or start the whole service come first,
 * since a long one that starts last runs alone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  if (moduleId.includes("/test/scripts/deploy/")) return 0
  return project.name === "system" ? 1 : 2
}
