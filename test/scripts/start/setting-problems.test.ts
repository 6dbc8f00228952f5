import { expect, test } from "vitest"
import { findSettingProblems } from "../../../scripts/start/service.ts"

const SECRETS = { LATHE_SECRET: "s".repeat(32), OPERATOR_TOKEN: "t".repeat(32) }

test("valid settings and other variables cause no problem", () => {
  expect(findSettingProblems({ ...SECRETS, LINK_SECONDS: "60", HOME: "/root" })).toEqual([])
})

test.each([
  [
    { DRAIN_SECONDS_MAX: "900" },
    'DRAIN_SECONDS_MAX is "900": expected a whole number from 0 to 780.',
  ],
  [{ LINK_SECONDS: "x" }, 'LINK_SECONDS is "x": expected a whole number above 0.'],
  [{ LINK_SECONDS: "" }, 'LINK_SECONDS is "": expected a whole number above 0.'],
  [{ JOB_DAYS_MAX: "1.5" }, 'JOB_DAYS_MAX is "1.5": expected a whole number above 0.'],
  [{ WAIT_SECONDS_MAX: "-1" }, 'WAIT_SECONDS_MAX is "-1": expected a whole number above 0.'],
  [
    { PUBLIC_ORIGIN: "media.example.com" },
    'PUBLIC_ORIGIN is "media.example.com": expected an address such as https://media.example.com.',
  ],
  [
    { PUBLIC_ORIGIN: "https://media.example.com/v1" },
    'PUBLIC_ORIGIN is "https://media.example.com/v1": expected the address without /v1.',
  ],
  [
    { ALLOWED_PRIVATE_HOSTS: "nas:80,http://localhost:3000" },
    'ALLOWED_PRIVATE_HOSTS is "nas:80,http://localhost:3000": expected `host` or `host:port`, but "http://localhost:3000" is neither: write `localhost:3000`.',
  ],
  [
    { ALLOWED_PRIVATE_HOSTS: "nas media" },
    'ALLOWED_PRIVATE_HOSTS is "nas media": expected `host` or `host:port`, but "nas media" is neither: separate hosts by commas.',
  ],
  [
    { CORS_ORIGINS: "https://a.example https://b.example" },
    'CORS_ORIGINS is "https://a.example https://b.example": "https://a.example https://b.example" is not an origin: separate origins by commas, as in https://a.example,https://b.example.',
  ],
  [
    { WEBHOOK_RETRY_SECONDS: "5;9" },
    'WEBHOOK_RETRY_SECONDS is "5;9": expected seconds, separated by commas.',
  ],
])("%o is reported with its value", (environment, sentence) => {
  expect(findSettingProblems({ ...SECRETS, ...environment })).toEqual([sentence])
})

test("hosts may have a port, and an IPv6 address has brackets", () => {
  const ALLOWED_PRIVATE_HOSTS = "127.0.0.1, localhost:3000,[::1]:8080,[fd00::1], NAS.lan ,"
  expect(findSettingProblems({ ...SECRETS, ALLOWED_PRIVATE_HOSTS })).toEqual([])
})

test("each invalid setting is reported once, all together and without secrets", () => {
  const problems = findSettingProblems({
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
