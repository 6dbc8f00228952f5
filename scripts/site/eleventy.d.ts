declare module "@11ty/eleventy" {
  type Configuration = {
    setIncludesDirectory(path: string): void
    setTemplateFormats(formats: string[]): void
    addGlobalData(name: string, value: unknown): void
    addTemplate(path: string, content: string, data: Record<string, unknown>): void
  }
  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { quietMode: boolean; config: (configuration: Configuration) => void },
    )
    disableLogger(): void
    write(): Promise<unknown>
  }
}
