import { z } from "zod"
import { nearestName } from "../suggest.ts"

/** What fields are called in other interfaces, and here: the first of them that a request has. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  input: ["input_files", "inputs", "source", "file_url", "url"],
  inputs: ["input_files", "source"],
  infile: ["input_files", "inputs"],
  infiles: ["input_files", "inputs"],
  files: ["input_files", "inputs", "file_url"],
  file: ["file_url", "source", "input_files", "inputs"],
  src: ["source", "file_url", "url", "input_files", "inputs"],
  source: ["file_url", "url", "input_files", "inputs"],
  url: ["file_url", "source", "input_files"],
  uri: ["file_url", "source", "url", "input_files"],
  fileurl: ["source", "url"],
  inputurl: ["file_url", "source", "url", "input_files"],
  videourl: ["source", "url", "file_url", "input_files"],
  output: ["output_files", "output_filename", "outputs"],
  outputs: ["output_files", "output_filename"],
  outfile: ["output_files", "output_filename"],
  outputname: ["output_files", "output_filename"],
  filename: ["output_filename"],
  renditions: ["outputs"],
  formats: ["outputs"],
  cmd: ["ffmpeg_command", "command"],
  args: ["ffmpeg_command", "command"],
  arguments: ["ffmpeg_command", "command"],
  ffmpeg: ["ffmpeg_command", "command"],
  command: ["ffmpeg_command"],
  commands: ["ffmpeg_commands", "command"],
  ffmpegcommand: ["command"],
  callback: ["webhook"],
  callbackurl: ["webhook"],
  notification: ["webhook"],
  notificationurl: ["webhook"],
  notify: ["webhook"],
  notifyurl: ["webhook"],
  hook: ["webhook"],
  webhookurl: ["webhook"],
  webhooks: ["webhook"],
  tags: ["metadata"],
  meta: ["metadata"],
  custom: ["metadata"],
  userdata: ["metadata"],
  lang: ["language"],
  codec: ["outputs"],
  lufs: ["loudnorm_i"],
  targetlufs: ["loudnorm_i"],
}

/** What to say of a field that the object at `path` of a schema does not have. */
export function describeUnknown(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  key: string,
): string {
  const fields = fieldsAt(schema, path)
  const meant = otherName(key, fields) ?? nearestName(key, fields)
  return `there is no such field${meant === null ? "" : `; did you mean \`${meant}\`?`}`
}

function otherName(key: string, fields: readonly string[]): string | null {
  const plain = key.toLowerCase().replace(/[^a-z]/g, "")
  const isOwn = fields.some((field) => field.replaceAll("_", "") === plain)
  const names = isOwn || !Object.hasOwn(OTHER_NAMES, plain) ? [] : (OTHER_NAMES[plain] ?? [])
  return names.find((name) => fields.includes(name)) ?? null
}

/** The fields of the object that stands at a path of a schema; none where that is no object. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const plain = unwrapped(schema)
  const [first, ...rest] = path
  if (plain instanceof z.ZodObject) {
    if (first === undefined) return Object.keys(plain.shape)
    const field: unknown = plain.shape[String(first)]
    return field instanceof z.ZodType ? fieldsAt(field, rest) : []
  }
  if (plain instanceof z.ZodArray && plain.element instanceof z.ZodType) {
    return fieldsAt(plain.element, rest)
  }
  return []
}

/** A schema without what makes it optional, null, or something else afterwards. */
function unwrapped(schema: z.ZodType): z.ZodType {
  const inner = innerOf(schema)
  return inner instanceof z.ZodType ? unwrapped(inner) : schema
}

function innerOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap()
  if (schema instanceof z.ZodDefault) return schema.unwrap()
  return schema instanceof z.ZodPipe ? schema.in : null
}
