/**
 * What is wrong with one field of a request, and what was expected of it; in a command also the
 * option at fault, and a code that programs can tell it by.
 */
export type Fault = { field: string; message: string; option?: string; code?: string }
