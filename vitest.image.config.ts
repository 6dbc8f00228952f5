import { defineConfig } from "vitest/config"

const TEST_TIMEOUT_MS = 240_000

/** Tests of the container image, which `npm run test:container` has built for them. */
export default defineConfig({
  test: {
    name: "image",
    pool: "forks",
    include: ["test/image/**/*.test.ts"],
    // They measure times, and share one engine.
    fileParallelism: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: 3 * TEST_TIMEOUT_MS,
  },
})
