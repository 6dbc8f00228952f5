// Publishes lectures with Lathe. The page uploads a film; webhooks start each next step.
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"

const { LATHE, LATHE_KEY, PORT = "3000" } = process.env
const lectures = new Map()
const watchers = new Set()

/** Sends a request to Lathe: a GET without a body, else a POST. */
async function lathe(path, body, headers) {
  const json = body && !(body instanceof FormData) && { "content-type": "application/json" }
  const answer = await fetch(new URL(path, LATHE), {
    method: body ? "POST" : "GET",
    headers: { "x-api-key": LATHE_KEY, ...json, ...headers },
    body: json ? JSON.stringify(body) : body,
  })
  if (!answer.ok) throw new Error(`${answer.status} of ${path}: ${await answer.text()}`)
  return answer
}

/** Starts a step of a lecture, once, and shows its progress. */
async function start(lecture, step, path, fields) {
  const body = { ...fields, metadata: { lecture: lecture.id, step } }
  const answer = await lathe(path, body, { "idempotency-key": `${lecture.id}-${step}` })
  const jobId = answer.headers.get("location").split("/").at(-1)
  void watch(lecture, step, jobId).catch(console.error)
}

async function watch(lecture, step, jobId) {
  const { body } = await lathe(`/v1/jobs/${jobId}/events`)
  let rest = ""
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split("\n\n")
    rest = events.pop()
    for (const [, data] of events.map((event) => /^data: (.*)$/m.exec(event) ?? [])) {
      if (data) show(lecture, { steps: { ...lecture.steps, [step]: JSON.parse(data).progress } })
    }
  }
}

function show(lecture, changes) {
  Object.assign(lecture, changes)
  for (const watcher of watchers) watcher.write(`data: ${JSON.stringify(lecture)}\n\n`)
}

/** Steps that follow the success of a step, whose record is `data`. */
const next = {
  async upload(lecture, { ffprobe: { duration } }) {
    const film = `svc_id://${lecture.id}`
    await start(lecture, "level", "/v1/normalize", { file_url: film, loudnorm_i: -16 })
    await start(lecture, "speech", "/v1/transcribe", { file_url: film })
    await start(lecture, "stills", "/v1/commands", {
      input_files: { film },
      output_files: { o1: "poster.jpg", o2: "storyboard.jpg", o3: "waveform.png", o4: "clip.gif" },
      publish: true,
      ffmpeg_commands: [
        `ffmpeg -ss ${duration / 10} -i {{film}} -frames:v 1 {{o1}}`,
        `ffmpeg -i {{film}} -vf fps=9/${duration},scale=160:-2,tile=3x3 -frames:v 1 {{o2}}`,
        "ffmpeg -i {{film}} -filter_complex showwavespic=s=800x120 -frames:v 1 {{o3}}",
        `ffmpeg -ss ${duration / 3} -t 3 -i {{film}} -vf fps=8,scale=320:-2 {{o4}}`,
      ],
    })
  },
  async level(lecture, { outputs }) {
    await addCaptions(lecture, { levelled: outputs[0].id })
  },
  async speech(lecture, { srt }) {
    const form = new FormData()
    form.set("file", new Blob([await (await lathe(srt)).text()]), "words.srt")
    await addCaptions(lecture, { words: (await (await lathe("/v1/files", form)).json()).id })
  },
  async captions(lecture, { output_files }) {
    const outputs = ["240p", "360p", "480p"].map((resolution) => ({ codec: "h264", resolution }))
    const source = `svc_id://${output_files.out.id}`
    await start(lecture, "ladder", "/v1/transcode", { source, outputs, publish: true })
  },
  stills(lecture, { output_files }) {
    show(lecture, { stills: Object.values(output_files).map((file) => file.public_url) })
  },
  ladder(lecture, { outputs }) {
    show(lecture, { films: [...new Set(outputs.map((output) => output.public_url))] })
  },
}

async function addCaptions(lecture, files) {
  const { levelled, words } = Object.assign(lecture, files)
  if (!levelled || !words) return
  await start(lecture, "captions", "/v1/commands", {
    input_files: { film: `svc_id://${levelled}`, words: `svc_id://${words}` },
    output_files: { out: "lecture.mp4" },
    ffmpeg_command: "ffmpeg -i {{film}} -vf subtitles={{words}} -c:a copy {{out}}",
  })
}

async function receive({ type, data }) {
  const { lecture: id = data.id, step = "upload", title } = data.metadata
  if (title) lectures.set(id, { id, title, steps: {} })
  const lecture = lectures.get(id)
  if (!lecture) return
  if (type.endsWith(".succeeded")) await next[step](lecture, data)
  else show(lecture, { error: `${step}: ${data.error?.message ?? data.error}` })
}

async function answer(request, response) {
  if (request.url === "/hooks") {
    await receive(new Webhook(endpoint.secret).verify(await text(request), request.headers))
    return response.writeHead(204).end()
  }
  if (request.url === "/events") {
    watchers.add(response.writeHead(200, { "content-type": "text/event-stream" }))
    return response.on("close", () => watchers.delete(response)).flushHeaders()
  }
  const expires_at = new Date(Date.now() + 600_000).toISOString()
  const { key } = await (await lathe("/v1/keys", { name: "page", expires_at })).json()
  const page = readFileSync(new URL("page.html", import.meta.url), "utf8")
  response.end(page.replace("LATHE", LATHE).replace("KEY", key))
}

const url = `http://127.0.0.1:${PORT}`
const endpoint = await (await lathe("/v1/webhooks/endpoints", { url: `${url}/hooks` })).json()
createServer((request, response) => {
  void answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
}).listen(Number(PORT), "127.0.0.1", () => console.log(`Publish lectures at ${url}/`))
