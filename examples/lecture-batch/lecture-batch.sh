#!/bin/sh
# Levels the sound of a film, burns its captions in, and makes two sizes and a poster, by one batch:
#   LATHE=http://127.0.0.1:8787 LATHE_KEY=… sh examples/lecture-batch/lecture-batch.sh talk.mp4
set -eu

lathe() {
  path=$1
  shift
  curl -fsSL -H "X-API-KEY: $LATHE_KEY" "$@" "$LATHE/v1/$path"
}

# Prints the value of a JavaScript expression of `record`, which is read as JSON.
read_json() {
  node -p "const record = JSON.parse(fs.readFileSync(0)); $1"
}

film=$(lathe files -F "file=@$1" | read_json record.id)

batch=$(lathe batches -H "Content-Type: application/json" -d '{
  "jobs": {
    "level":  {"normalize":  {"file_url": "svc_id://'"$film"'", "loudnorm_i": -16}},
    "speech": {"transcribe": {"file_url": "svc_id://'"$film"'"}},
    "captions": {"commands": {
      "input_files":    {"film": "svc_id://level/file", "words": "svc_id://speech/srt"},
      "output_files":   {"film_with_captions": "lecture.mp4"},
      "ffmpeg_command": "ffmpeg -i {{film}} -vf subtitles={{words}} -c:a copy {{film_with_captions}}"}},
    "sizes": {"transcode": {
      "source":  "svc_id://captions/film_with_captions",
      "outputs": [{"codec": "h264", "resolution": "360p"}, {"codec": "h264", "resolution": "240p"}]}},
    "poster": {"commands": {
      "input_files":    {"film": "svc_id://'"$film"'"},
      "output_files":   {"poster": "poster.jpg"},
      "ffmpeg_command": "ffmpeg -ss 1 -i {{film}} -frames:v 1 {{poster}}"}}
  }
}' | read_json record.batch_id)

# The stream ends with the batch.
lathe "batches/$batch/events" -N | while read -r field data; do
  if [ "$field" = data: ]; then printf '%s' "$data" | read_json '`${record.status} ${record.progress} %`'; fi
done

lathe "batches/$batch" | read_json 'Object.entries(record.jobs).map(([name, { status, error, outputs }]) =>
  [name, status, error?.message, ...Object.values(outputs).map(({ url }) => url)].filter(Boolean).join("  ")).join("\n")'
