/** What a page says of a code: what it means, what to do, and a message that comes with it. */
export type Explained = { means: string; remedy: string; message: string }
