/** Form of a request that creates a job with one input. The input may have HTTP headers. */
export type InputForm = {
  form: string
  path: string
  /** Name of the input's field in faults. */
  field: string
  /** Name of the response field with the job's id. */
  idField: string
  /** HTTP status of a response with faults. */
  refusal: 400 | 422
  body: (input: unknown) => object
}

const RENDITIONS = { outputs: [{ codec: "h264", resolution: "480p" }] }

/** All forms of requests whose input may have HTTP headers. */
export const INPUT_FORMS: readonly InputForm[] = [
  {
    form: "input_files of a command",
    path: "/commands",
    field: "input_files.in_1",
    idField: "command_id",
    refusal: 422,
    body: (input) => ({
      input_files: { in_1: input },
      output_files: { out_1: "out.mkv" },
      ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    }),
  },
  {
    form: "inputs of an ffmpeg job",
    path: "/ffmpeg",
    field: "inputs.0",
    idField: "id",
    refusal: 400,
    body: (input) => ({
      inputs: [input],
      command: "-i {{in_1}} -c copy",
      output_filename: "out.mkv",
    }),
  },
  {
    form: "source of a transcode",
    path: "/transcode",
    field: "source",
    idField: "id",
    refusal: 400,
    body: (input) => ({ source: input, ...RENDITIONS }),
  },
  {
    form: "file_url of a file",
    path: "/files",
    field: "file_url",
    idField: "id",
    refusal: 422,
    body: (input) => ({ file_url: input }),
  },
  {
    form: "file_url of a normalization",
    path: "/normalize",
    field: "file_url",
    idField: "normalization_id",
    refusal: 422,
    body: (input) => ({ file_url: input }),
  },
  {
    form: "file_url of a transcription",
    path: "/transcribe",
    field: "file_url",
    idField: "transcribe_id",
    refusal: 422,
    body: (input) => ({ file_url: input, language: "en" }),
  },
  {
    form: "source of a transcription",
    path: "/transcribe",
    field: "source",
    idField: "transcribe_id",
    refusal: 400,
    body: (input) => ({ source: input, language: "en" }),
  },
  {
    form: "url of a fetch",
    path: "/fetch",
    field: "url",
    idField: "fetch_id",
    refusal: 422,
    body: (input) => ({ url: input }),
  },
  {
    form: "url of a fetch with transcode",
    path: "/fetch",
    field: "url",
    idField: "fetch_id",
    refusal: 400,
    // The nested body may also have a `source`. The service ignores that field and does not store
    // it.
    body: (input) => ({ url: input, transcode: { source: input, ...RENDITIONS } }),
  },
]
