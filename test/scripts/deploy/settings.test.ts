import { expect, test } from "vitest"
import {
  mergeDeploymentSettings,
  readDeploymentSettings,
} from "../../../scripts/deploy/settings.ts"

test("settings of a runner on one machine, and secrets, are not deployed", () => {
  const { values } = readDeploymentSettings({
    RUNNER_ORIGIN: "http://127.0.0.1:9000",
    RUNNER_TOKEN: "z".repeat(40),
    ANNOUNCE_TOKEN: "w".repeat(40),
    RUNNER_CAPACITY: "2",
    IO_ORIGIN: "http://127.0.0.1:8787",
    LATHE_SECRET: "x".repeat(40),
    OPERATOR_TOKEN: "y".repeat(40),
    HOME: "/root",
    PAID_RUNNING_JOBS_MAX: "8",
  })
  expect(values).toEqual({ PAID_RUNNING_JOBS_MAX: "8" })
})

const COOKIES = "example.com\tFALSE\t/\tTRUE\t0\tsession\ta-session-that-nobody-sees"

const S3_SOURCES = JSON.stringify([
  {
    bucket: "films",
    endpoint: "https://store.example.com",
    region: "auto",
    access_key_id: "a-key-id-that-nobody-sees",
    secret_access_key: "a-key-that-nobody-sees",
  },
])

test("secrets are separate from the settings that are shown", () => {
  const secrets = {
    S3_SOURCES,
    FETCH_COOKIES: `# Netscape HTTP Cookie File\n\n${COOKIES}\n`,
    FETCH_PROXY: "http://user:password@proxy.example.com:3128",
    YTDLP_VERSION: `2026.10.26 sha256:${"a".repeat(64)}`,
  }
  const wanted = readDeploymentSettings({
    ...secrets,
    FETCH_SITES: "example.com, video.example.org",
  })
  expect(wanted).toMatchObject({ secrets, droppedSecrets: [], problems: [] })
  expect(wanted.values).toEqual({ FETCH_SITES: "example.com, video.example.org" })
  const { droppedSecrets, ...emptied } = readDeploymentSettings({
    FETCH_PROXY: "",
    FETCH_DAYS_MAX: "30",
  })
  expect(droppedSecrets).toEqual(["FETCH_PROXY"])
  expect(emptied).toMatchObject({ secrets: {}, values: { FETCH_DAYS_MAX: "30" } })
})

test("an origin in another form than browsers send is a problem, which has the right form", () => {
  const { problems } = readDeploymentSettings({ CORS_ORIGINS: "https://app.example.com/" })
  expect(problems).toEqual([
    'CORS_ORIGINS is "https://app.example.com/": "https://app.example.com/" is not in the form that browsers send: write https://app.example.com.',
  ])
})

test.each([
  ["FETCH_COOKIES", "session=a-session", "expected cookies in Netscape's format"],
  ["FETCH_COOKIES", `${COOKIES}\n`.repeat(100), "bytes, and Cloudflare accepts at most 5120"],
  ["FETCH_PROXY", "socks5://proxy.example.com:1080", "expected an http:// URL"],
  ["S3_SOURCES", S3_SOURCES.slice(1), "S3_SOURCES: expected a JSON list of objects with bucket"],
  ["S3_SOURCES", S3_SOURCES.replace("films", ""), "S3_SOURCES: entry 1: bucket: expected the name"],
  ["S3_SOURCE", S3_SOURCES, "S3_SOURCE is no setting"],
  ["YTDLP_VERSION", "2031.4.9", "expected one version and the SHA-256 of its wheel"],
  ["FETCH_COOKIE", COOKIES, "FETCH_COOKIE is no setting"],
])("an invalid %s is a problem, which does not show its value", (name, value, problem) => {
  const { problems } = readDeploymentSettings({
    [name]: value,
    FETCH_PYTHON_PATH: "/usr/bin/python3",
  })
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems[0]).not.toContain(value.trim().slice(0, 40))
})

test.each([
  ["FETCH_SITES", "https://example.com/"],
  ["FETCH_DAYS_MAX", "0"],
  ["LATHE_NAME", "-lathe"],
  ["LATHE_NAME", "a".repeat(41)],
  ["LATHE_DOMAIN", "https://media.example.com"],
  ["RUNNER_INSTANCE_TYPE", "huge"],
  ["RUNNER_INSTANCES", "0"],
  ["PUBLIC_ORIGIN", "media.example.com"],
  ["WEBHOOK_RETRY_SECONDS", "5;300"],
])("%s=%s is a problem", (name, value) => {
  expect(readDeploymentSettings({ [name]: value }).problems).toEqual([
    expect.stringContaining(`${name} is "${value}": `),
  ])
})

test.each([
  ["WHISPER_MODEL", "/srv/models/base"],
  ["WHISPER_MODEL", "huge"],
  ["WHISPER_MODELS", "base, huge"],
])("%s=%s is a problem, since no image has it", (name, value) => {
  expect(readDeploymentSettings({ [name]: value }).problems).toEqual([
    expect.stringMatching(/^WHISPER_MODELS? has "\S+", and the image .* only base and tiny\.en\.$/),
  ])
  expect(
    readDeploymentSettings({ WHISPER_MODEL: "tiny.en", WHISPER_MODELS: "base" }).problems,
  ).toEqual([])
})

const ORIGIN = "https://media.example.com"
test.each([
  ["a domain gives the origin", { LATHE_DOMAIN: "media.example.com" }, {}, ORIGIN],
  [
    "an explicit origin stays beside a domain",
    { LATHE_DOMAIN: "media.example.com", PUBLIC_ORIGIN: "https://cdn.example.com" },
    {},
    "https://cdn.example.com",
  ],
  [
    "a new domain replaces the origin of the old one",
    { LATHE_DOMAIN: "media.example.com" },
    { LATHE_DOMAIN: "old.example.com", PUBLIC_ORIGIN: "https://old.example.com" },
    ORIGIN,
  ],
  [
    "a new domain keeps an explicit origin",
    { LATHE_DOMAIN: "media.example.com" },
    { LATHE_DOMAIN: "old.example.com", PUBLIC_ORIGIN: "https://cdn.example.com" },
    "https://cdn.example.com",
  ],
  [
    "a removed domain removes its origin",
    { LATHE_DOMAIN: "" },
    { LATHE_DOMAIN: "media.example.com", PUBLIC_ORIGIN: ORIGIN },
    undefined,
  ],
])("%s", (_case, environment, deployed, origin) => {
  const merged = mergeDeploymentSettings(readDeploymentSettings(environment), deployed, {})
  expect(merged["PUBLIC_ORIGIN"]).toBe(origin)
})

test("settings of the Worker that the environment does not name remain", () => {
  const deployed = { LINK_SECONDS: "60", MADE_BY_HAND: { deep: [1] } }
  expect(mergeDeploymentSettings(readDeploymentSettings({}), deployed, {})).toEqual(deployed)
})

test("settings of the clone follow the clone until an operator sets them", () => {
  const first = mergeDeploymentSettings(readDeploymentSettings({}), {}, { RUNNER_INSTANCES: "10" })
  expect(first).toEqual({ RUNNER_INSTANCES: "10" })
  const newer = mergeDeploymentSettings(readDeploymentSettings({}), first, {
    RUNNER_INSTANCES: "20",
  })
  expect(newer).toEqual({ RUNNER_INSTANCES: "20" })
  const set = mergeDeploymentSettings(
    readDeploymentSettings({ RUNNER_INSTANCES: "3" }),
    newer,
    newer,
  )
  expect(
    mergeDeploymentSettings(readDeploymentSettings({}), set, { RUNNER_INSTANCES: "30" }),
  ).toEqual(set)
  const dropped = mergeDeploymentSettings(
    readDeploymentSettings({ RUNNER_INSTANCES: "" }),
    set,
    newer,
  )
  expect(dropped).toEqual(newer)
})
