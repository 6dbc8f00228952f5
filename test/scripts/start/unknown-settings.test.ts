import { expect, test } from "vitest"
import { findDeploymentSettingWarnings } from "../../../scripts/deploy/settings.ts"
import { readWranglerSettings } from "../../../scripts/deploy/config.ts"
import { findUnknownSettingWarnings } from "../../../scripts/start/unknown-settings.ts"

test.each([
  ["RETENTION_DAY", "RETENTION_DAYS"],
  ["CORS_ORIGIN", "CORS_ORIGINS"],
  ["WEBHOOK_RETRY_SECOND", "WEBHOOK_RETRY_SECONDS"],
  ["STATEDIR", "STATE_DIR"],
  ["FFMPEGPATH", "FFMPEG_PATH"],
  ["TRIAL_RUNING_JOBS_MAX", "TRIAL_RUNNING_JOBS_MAX"],
  ["LATHE_DOMAINS", "LATHE_DOMAIN"],
  ["REGIONS", "REGION"],
])("%s is reported as unknown, with the suggestion %s", (name, meant) => {
  expect(findUnknownSettingWarnings({ [name]: "1" })).toEqual([
    `${name} is no setting, and has no effect; did you mean ${meant}?`,
  ])
})

test("an unknown name with a prefix of settings is reported, without a suggestion if none is near", () => {
  expect(findUnknownSettingWarnings({ PAID_SOMETHING_ELSE: "1" })).toEqual([
    "PAID_SOMETHING_ELSE is no setting, and has no effect.",
  ])
})

test("settings and variables of other programs are not reported", () => {
  const names =
    "RETENTION_DAYS PORT HOST STATE_DIR LATHE_NAME FETCH_COOKIES FFMPEG_PATH HF_ENDPOINT PATH HOME PWD " +
    "HOSTNAME LOGNAME USER SHELL LANG TERM MAIL EDITOR SHLVL OLDPWD DATABASE_URL AWS_REGION NODE_ENV " +
    "NODE_OPTIONS HTTP_PROXY HTTPS_PROXY http_proxy npm_config_registry RUNNER_TEMP RUNNER_OS RUNNER_NAME " +
    "GITHUB_TOKEN CI COLUMNS LINES DISPLAY TZ INVOCATION_ID JOURNAL_STREAM STATE_DIRECTORY LOGS_DIRECTORY"
  const variables = Object.fromEntries(names.split(" ").map((name) => [name, "1"]))
  expect(findUnknownSettingWarnings(variables)).toEqual([])
})

test("a deployment also checks wrangler.toml, whose own settings are known", () => {
  expect(findDeploymentSettingWarnings({}, readWranglerSettings())).toEqual([])
  expect(
    findDeploymentSettingWarnings({ FETCH_COOKIE: "a problem" }, { RETENTION_DAY: "3" }),
  ).toEqual([
    "Warning: RETENTION_DAY is no setting, and has no effect; did you mean RETENTION_DAYS?",
  ])
})
