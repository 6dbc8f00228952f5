/** Test file that runs a command, command of wrangler that needs an account, or another reason. */
type Reason = { test: string } | { wrangler: string } | { because: string }

const DEMO = "test/system/develop/demo.test.ts"
const SPEECH = "test/system/develop/demo-speech.slow.test.ts"
const LECTURE = "test/system/develop/demo-lecture.slow.test.ts"
const RESTORE = "test/system/operate/restore.slow.test.ts"
const CHECK = "test/system/operate/live-check.slow.test.ts"
const DEPLOY = "test/scripts/deploy/deploy.slow.test.ts"
const PLAIN = "test/scripts/deploy/plain-deploy.slow.test.ts"
const SELF = "test/db/migrations.test.ts"

const ROOT = "It changes the users or the services of the machine."
const DOWNLOAD = "It downloads from an index that a machine may not reach."
const ACCOUNT = "It needs an account of Cloudflare and rclone."
const UPGRADE = "It changes the clone."

/** Commands of the documentation that no test runs as they stand, without comments, and why. */
export const COMMANDS_NOT_RUN = new Map<string, Reason>([
  ["npm run demo", { test: DEMO }],
  ["npm run demo -- my.mp4", { test: DEMO }],
  ["npm run demo -- speech", { test: SPEECH }],
  ["npm run demo -- speech talk.mp3", { test: SPEECH }],
  ["npm run demo -- lecture", { test: LECTURE }],
  ["npm run deploy", { test: DEPLOY }],
  ["npm install && npx wrangler deploy", { test: PLAIN }],
  [
    "npm run keys -- create --account me --plan paid --remote <the address that it printed>",
    { test: DEPLOY },
  ],
  [
    "CHECK_URL=https://media.example.com/page-with-a-video npm run deploy -- --check",
    { test: CHECK },
  ],
  ["npm run deploy -- --check --origin http://127.0.0.1:8787", { test: CHECK }],
  ["npm test -- test/db/migrations.test.ts", { test: SELF }],
  ["npm install --no-save", { because: "The set-up of the tests has run it." }],
  ["npm run setup -- --ffmpeg", { because: "npm run test:ffmpeg runs it, for minutes." }],
  ["npm run bench -- cost", { because: "It measures for minutes." }],
  [
    "docker build -f container/Dockerfile --build-arg WHISPER_MODELS=tiny.en .",
    { because: "npm run test:container builds the image." },
  ],
  ["systemctl stop lathe", { because: ROOT }],
  ["mv /var/lib/lathe /var/lib/lathe.before", { test: RESTORE }],
  ["cp -a /backup/lathe /var/lib/lathe && chown -R lathe: /var/lib/lathe", { test: RESTORE }],
  ["systemctl start lathe", { because: ROOT }],
  ["systemctl restart lathe", { because: ROOT }],
  ["useradd --system --home-dir /nonexistent lathe", { because: ROOT }],
  ["install -d -o lathe -g lathe -m 0700 /backup/lathe", { because: ROOT }],
  ["git clone <this repository> /opt/lathe", { because: UPGRADE }],
  ["git pull && npm run setup", { because: UPGRADE }],
  ["git pull && npm run deploy", { because: UPGRADE }],
  ["git checkout <the version before> && npm run deploy", { because: UPGRADE }],
  ["rm -r .lathe/remote .lathe/deploy", { because: "It removes the state of deployments." }],
  ["WHISPER_MODELS=tiny.en npm run setup", { because: DOWNLOAD }],
  ["pip download --no-deps --only-binary :all: yt-dlp==2026.10.26", { because: DOWNLOAD }],
  ["sha256sum yt_dlp-2026.10.26-py3-none-any.whl", { because: DOWNLOAD }],
  ['YTDLP_VERSION="2026.10.26 sha256:<the printed hash>" npm start', { because: DOWNLOAD }],
  ["rclone sync r2:lathe-media /backup/lathe-media", { because: ACCOUNT }],
  ["rclone sync /backup/lathe-media r2:lathe-media", { because: ACCOUNT }],
  [
    "rclone delete r2:lathe-media && npx wrangler r2 bucket delete lathe-media",
    { wrangler: "r2 bucket delete" },
  ],
  ["npx wrangler rollback --name lathe", { wrangler: "rollback" }],
  [
    "npx wrangler r2 bucket create lathe-media --update-config=false",
    { wrangler: "r2 bucket create" },
  ],
  ["rclone sync /backup/lathe-media new-r2:lathe-media", { because: ACCOUNT }],
  ["npx wrangler d1 create lathe --update-config=false", { wrangler: "d1 create" }],
  ["npx wrangler delete lathe", { wrangler: "delete" }],
  ["npx wrangler containers list", { wrangler: "containers list" }],
  ["npx wrangler containers images list", { wrangler: "containers images list" }],
  [
    "for queue in jobs jobs-dead webhooks webhooks-dead; do npx wrangler queues delete lathe-$queue; done",
    { wrangler: "queues delete" },
  ],
  ["npx wrangler d1 delete lathe", { wrangler: "d1 delete" }],
  ["npx wrangler secret put YTDLP_VERSION --name lathe", { wrangler: "secret put" }],
])

/** Returns a command without the comment at its end. */
export function stripComment(command: string): string {
  return command.replace(/\s+# [^'"\n]*$/, "").trim()
}

/** Reports whether no test runs this command as it stands. */
export function isNotRun(command: string): boolean {
  return COMMANDS_NOT_RUN.has(stripComment(command))
}
