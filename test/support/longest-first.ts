import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

/**
 * The order in which files of tests start: those that start the whole service come first, since a
 * long one that starts last runs alone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isOfSystem), ...sorted.filter((file) => !isOfSystem(file))]
  }
}

function isOfSystem({ project }: TestSpecification): boolean {
  return project.name === "system"
}
