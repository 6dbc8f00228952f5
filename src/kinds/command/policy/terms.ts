/** What to do instead, in the words of the form of request that a command came in. */
export type Terms = {
  /** In the place of what is no input that there is. */
  nameInput: string
  /** In the place of what is no output. */
  nameOutput: string
  nameEither: string
  /** Behind the key that an output is to be named by: where its own name goes. */
  nameItsFile: string
  /** In the place of a file that an option reads. */
  giveFile: string
  /** In the place of a file of the caller's own machine. */
  uploadFirst: string
  /** In the place of a plain name behind -i that no input has; null where something else tells it. */
  giveInput: string | null
  /** In the place of a URL that is to be read. */
  giveUrl: string
  endWithOutput: string
  /** What a key is that nothing has, behind its name. */
  isUnknown: string
  /** In the place of a command that follows another. */
  giveSeveral: string
}

/** Those of POST /commands. */
export const COMMAND_TERMS: Terms = {
  nameInput: "name a key of input_files here",
  nameOutput: "name a key of output_files here",
  nameEither: "name a key of input_files or output_files here",
  nameItsFile: ", and the name that its file is to have into output_files",
  giveFile: "upload the file and name its key of input_files here",
  uploadFirst:
    "upload it with POST /v1/files, give its id in input_files and write its key here, as {{in_1}}",
  giveInput:
    "upload the file with POST /v1/files, give its id in input_files and write its key here, as {{in_1}}",
  giveUrl: "give the URL in input_files and name its key here",
  endWithOutput: "end it with a key of output_files, or -f null -",
  isUnknown: "is a key of neither input_files nor output_files",
  giveSeveral: "give several commands in ffmpeg_commands, one an entry",
}
