import type { FailureCode } from "../../contract/failure.ts"
import type { FaultCode } from "../../faults.ts"
import type { Explained } from "./explained.ts"

/** What is known of a code of `details`: an example's field and option, too. */
export type ExplainedFault = Explained & { title: string; field: string; option?: string }

const NAMED = "Name files by their keys, as in {{in_1}} and {{out_1}}."
const SEVERAL = "Give several commands as the array `ffmpeg_commands`."
const INSTEAD = "The message says what to write instead."

/** Every code of `details` that no job fails with. */
export const FAULTS: Record<Exclude<FaultCode, FailureCode>, ExplainedFault> = {
  codec_not_allowed: {
    title: "The codec is not allowed",
    means: "The codec needs a device, and the machine that does the work has none.",
    remedy: INSTEAD,
    message: '-c:v: "h264_nvenc" needs a device, and a command has none; use libx264 for encoding',
    field: "ffmpeg_command",
    option: "-c:v",
  },
  empty_command: {
    title: "The command is empty",
    means: "Nothing follows the name of the program.",
    remedy: "Write options and an output after ffmpeg.",
    message: "expected options and an output after ffmpeg, as in `ffmpeg -i {{in_1}} {{out_1}}`",
    field: "ffmpeg_command",
  },
  endless_input: {
    title: "The command would never end",
    means:
      "An input has no end, and no word of the command ends what is made of it. What filters make without end, the run says at its time limit.",
    remedy:
      "Write -t and its seconds before the output, or -shortest beside a stream that ends; or give the input an end, as the message says.",
    message:
      '-stream_loop: the input "in_1.mp4" has no end: -stream_loop -1 repeats it without end, so that "out.mp4" would never be done; write -t and its seconds before the output, or give it fewer times, as -stream_loop 3',
    field: "ffmpeg_command",
    option: "-stream_loop",
  },
  fetch_not_an_input: {
    title: "What was fetched is no input",
    means: "The address is that of a fetch, which is kept for some days and is no File.",
    remedy: "Import the page with POST /v1/files and `file_url`, and use that File.",
    message: "what was fetched is no input: import the page with POST /files and file_url",
    field: "input_files.in_1",
  },
  filter_not_allowed: {
    title: "The filter is not allowed",
    means: "The filter reaches what is not of the job, or cannot work here.",
    remedy: INSTEAD,
    message:
      "-vf: the filter zmq listens to a network, and a command has none; use sendcmd or asendcmd",
    field: "ffmpeg_command",
    option: "-vf",
  },
  filter_option_not_allowed: {
    title: "The option of a filter is not allowed",
    means: "The option has the filter read its value from elsewhere.",
    remedy: INSTEAD,
    message:
      "-vf: the filter drawtext, /text: /text reads its value from a file; write the value into the graph",
    field: "ffmpeg_command",
    option: "-vf",
  },
  format_not_allowed: {
    title: "The format is not allowed",
    means: "The format reads devices or addresses, or cannot work here.",
    remedy: INSTEAD,
    message:
      '-f: "x11grab" is a device, and a command has none; read from an input or from -f lavfi, and write to an output',
    field: "ffmpeg_command",
    option: "-f",
  },
  invalid_field: {
    title: "The field cannot be used",
    means: "The field is missing, not known, of another type, or out of its bounds.",
    remedy: "The message says what was expected, and what a field that is not known likely meant.",
    message: "expected a number from -70 to -5",
    field: "loudnorm_i",
  },
  invalid_name: {
    title: "The name of an output cannot be used",
    means: "The name is no plain file name, too long, or has no extension.",
    remedy: "Use letters, digits and . _ - with an extension, as in clip.mp4, and no folders.",
    message: "expected a file name without a folder",
    field: "output_files.out_1",
  },
  invalid_reference: {
    title: "An input is no file and no URL",
    means: "The text is none of the forms in which an input is given.",
    remedy:
      "Give `svc_id://<id>` of a File, its `download_url`, a public URL, or s3://<bucket>/<key>. A file of your own machine is uploaded with POST /v1/files first.",
    message: "expected svc_id://<uuid>, a File's download_url, a public URL or s3://<bucket>/<key>",
    field: "input_files.in_1",
  },
  missing_value: {
    title: "An option lacks its value",
    means: "The command ends behind an option that takes a value.",
    remedy: "Write its value after it, or leave the option out.",
    message: "-crf lacks its value; write one after it",
    field: "ffmpeg_command",
    option: "-crf",
  },
  name_not_allowed: {
    title: "A file's name is not allowed",
    means: "The word stands for a file and is no plain name; often a shell would have read it.",
    remedy: `${NAMED} ${SEVERAL}`,
    message:
      'output "&&": no shell reads this; leave it out, and give several commands in ffmpeg_commands, one an entry',
    field: "ffmpeg_command",
  },
  name_taken: {
    title: "Two files have one name",
    means: "The key or the name of an output is that of another file of the job.",
    remedy: "Give each file a key and a name of its own.",
    message: "another file of this command is called clip.mp4",
    field: "output_files.out_2",
  },
  no_such_file: {
    title: "There is no such file",
    means: "The account has no File of this id, or has it no longer.",
    remedy: "Look it up with GET /v1/files, and check whose key is used.",
    message: "there is no such file",
    field: "input_files.in_1",
  },
  not_ffmpeg: {
    title: "The command is not one of ffmpeg",
    means: "The command begins with another program.",
    remedy: "Begin it with ffmpeg. What ffprobe says of a File is in its record.",
    message:
      "expected a command that begins with ffmpeg, not with `sox`; write what it does as a command of ffmpeg",
    field: "ffmpeg_command",
  },
  option_not_allowed: {
    title: "The option is not allowed",
    means: "The option could only do harm here, or never work.",
    remedy: INSTEAD,
    message:
      "-report writes a log file of its own; leave it out: processing_errors holds what ffmpeg said last",
    field: "ffmpeg_command",
    option: "-report",
  },
  overwrites_input: {
    title: "An output would overwrite an input",
    means: "An output has the name of an input; inputs cannot be changed.",
    remedy: "Write to an output, as in {{out_1}}.",
    message: 'output "in_1.mp4": an input would be written over; name a key of output_files here',
    field: "ffmpeg_command",
  },
  path_not_allowed: {
    title: "Paths are not allowed",
    means: "A command has one folder, and no other of this or of your machine.",
    remedy: `${NAMED} Upload a file of your machine with POST /v1/files first.`,
    message:
      '-i: "/home/me/film.mp4": paths and folders are not allowed, since a command has one folder and nothing else; name a key of input_files here',
    field: "ffmpeg_command",
    option: "-i",
  },
  protocol_not_allowed: {
    title: "Protocols are not allowed",
    means: "The word is read by ffmpeg as an address of another protocol than files.",
    remedy: NAMED,
    message: '-i: "rtmp:stream": protocols are not allowed; name a key of input_files here',
    field: "ffmpeg_command",
    option: "-i",
  },
  seek_behind_end: {
    title: "-ss is behind the end",
    means:
      "The command seeks behind the end of an input whose length is known, so that nothing is left.",
    remedy: "Seek to an earlier place; `ffprobe.duration` of the File is its length.",
    message:
      "-ss 90 lies behind the end of in_1.mp4, which lasts 60 seconds, so that nothing is left; seek to an earlier place",
    field: "ffmpeg_command",
    option: "-ss",
  },
  series_as_input: {
    title: "A series is no input",
    means: "The File is a series or a playlist with its files, and an input is one file.",
    remedy: "Download the one you need, and upload it with POST /v1/files.",
    message:
      '"frames.zip" is a series of files, and a command takes single ones: download the one you need and upload it with POST /files',
    field: "input_files.in_1",
  },
  stdio_not_allowed: {
    title: "There is no standard input or output",
    means: "The command reads from or writes to a pipe, which nobody holds the other end of.",
    remedy: NAMED,
    message:
      'output "-": a command has no standard input or output; name a key of output_files here',
    field: "ffmpeg_command",
  },
  too_many_inputs: {
    title: "There are too many inputs",
    means: "A command may name so many inputs by -i.",
    remedy: "Join files by a list with -f concat, or split the work.",
    message: "-i stands 65 times; expected at most 64 inputs",
    field: "ffmpeg_command",
    option: "-i",
  },
  too_complex: {
    title: "The request takes too long to judge",
    means: "What the field holds is larger than the service judges within a tenth of a second.",
    remedy: "Split the work into several requests, or a graph into several commands.",
    message:
      "-vf: a graph of 1200 filters is too large; expected at most 1000, so split the work into several commands",
    field: "ffmpeg_command",
    option: "-vf",
  },
  too_many_outputs: {
    title: "There are too many outputs",
    means: "A command may write so many outputs.",
    remedy: "Make the outputs by several jobs.",
    message: "the command has 65 outputs; expected at most 64",
    field: "ffmpeg_command",
  },
  too_many_words: {
    title: "The command is too long",
    means: "The command has more words than one may have.",
    remedy: `Make it shorter. ${SEVERAL}`,
    message: "expected at most 4000 words",
    field: "ffmpeg_command",
  },
  trailing_option: {
    title: "An option stands behind the last output",
    means: "Options count for the file that follows them, and none follows.",
    remedy: "Put the option before the output that it is for.",
    message:
      "-crf stands after the last output and means nothing there; put it before the output that it is for",
    field: "ffmpeg_command",
    option: "-crf",
  },
  transcript_not_an_input: {
    title: "A transcript is no input",
    means: "The address is that of a transcription's text, which is no File.",
    remedy: "Download it, and upload it with POST /v1/files.",
    message: "a transcript is no input: download it and upload it with POST /files",
    field: "input_files.in_2",
  },
  unknown_key: {
    title: "The command names a key that is not there",
    means: "A placeholder of the command is no key of `input_files` or `output_files`.",
    remedy: "Add the key there, or correct the placeholder.",
    message: '"in_2" is a key of neither input_files nor output_files',
    field: "ffmpeg_command",
  },
  unreadable_command: {
    title: "The command cannot be read",
    means: "The command cannot be split into words, mostly since a quote is never closed.",
    remedy: "Close each quote, and write a backslash before one that is a letter.",
    message: "it cannot be split into words: a ' is opened and never closed",
    field: "ffmpeg_command",
  },
  unused_output: {
    title: "No command writes the output",
    means: "`output_files` has a key that no command names.",
    remedy: "Write {{out_1}} where its file goes, or leave the key out.",
    message: "no command names this output; write {{out_2}} where its file goes",
    field: "output_files.out_2",
  },
  value_not_allowed: {
    title: "The value of an option is not allowed",
    means: "The option is allowed, and this value of it could only do harm here, or never work.",
    remedy: INSTEAD,
    message: '-threads: "999": expected a whole number of threads up to 64, or auto',
    field: "ffmpeg_command",
    option: "-threads",
  },
}
