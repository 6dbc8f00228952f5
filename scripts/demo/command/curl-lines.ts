import { AUTH, fileField } from "../curl.ts"
import type { Recipe } from "./recipe.ts"

/** Shell commands that do the same with `npm start`'s service; `source` is the file's path. */
export function curlLines({ command, outputName }: Recipe, source: string): string {
  return `  KEY=$(npm run --silent keys -- create --account demo | tail -n 1)
  API=http://127.0.0.1:8787/v1
  FILE=$(curl -s ${AUTH} ${fileField(source)} $API/files | cut -d'"' -f4)
  JOB=$(curl -s ${AUTH} -H "Content-Type: application/json" $API/commands -d '{
    "ffmpeg_command": ${JSON.stringify(command)},
    "input_files": {"in_1": "svc_id://'$FILE'"},
    "output_files": {"out_1": "${outputName}"}
  }' | cut -d'"' -f4)
  until RECORD=$(curl -s ${AUTH} $API/commands/$JOB) &&
    echo "$RECORD" | grep -qE '"status":"(success|failed)"'; do sleep 1; done
  URL=$(echo "$RECORD" | grep -o '"download_url":"[^"]*' | cut -d'"' -f4)
  curl -L ${AUTH} -o ${outputName} "$URL"`
}
