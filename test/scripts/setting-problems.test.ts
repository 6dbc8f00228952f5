import { expect, test } from "vitest"
import { problemsOfSettings } from "../../scripts/local/setting-problems.ts"

const SECRETS = { LATHE_SECRET: "s".repeat(32), OPERATOR_TOKEN: "t".repeat(32) }

test("settings that can be used, and other variables, have no problem", () => {
  expect(problemsOfSettings({ ...SECRETS, LINK_SECONDS: "60", HOME: "/root" })).toEqual([])
})

test.each([
  [{ LINK_SECONDS: "x" }, 'LINK_SECONDS is "x": expected a whole number above 0.'],
  [{ LINK_SECONDS: "" }, 'LINK_SECONDS is "": expected a whole number above 0.'],
  [{ JOB_DAYS_MAX: "1.5" }, 'JOB_DAYS_MAX is "1.5": expected a whole number above 0.'],
  [{ WAIT_SECONDS_MAX: "-1" }, 'WAIT_SECONDS_MAX is "-1": expected a whole number above 0.'],
  [{ PUBLIC_ORIGIN: "media" }, 'PUBLIC_ORIGIN is "media": Invalid URL.'],
  [
    { WEBHOOK_RETRY_SECONDS: "5;9" },
    'WEBHOOK_RETRY_SECONDS is "5;9": expected seconds, by commas.',
  ],
])("%o is told with its value", (environment, sentence) => {
  expect(problemsOfSettings({ ...SECRETS, ...environment })).toEqual([sentence])
})

test("no secret is shown, and each setting is told once with all others", () => {
  const problems = problemsOfSettings({
    ...SECRETS,
    LATHE_SECRET: "too-short-a-secret",
    LINK_SECONDS: "-0.5",
    YTDLP_VERSION: "latest",
  })
  expect(problems).toHaveLength(3)
  expect(problems[0]).toMatch(/^LATHE_SECRET: .*32/)
  expect(problems[1]).toBe('LINK_SECONDS is "-0.5": expected a whole number above 0.')
  expect(problems[2]).toMatch(/^YTDLP_VERSION: /)
  expect(problems.join(" ")).not.toContain("too-short-a-secret")
})
