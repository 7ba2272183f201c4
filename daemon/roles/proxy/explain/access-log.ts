// Reads requests out of access logs: the combined format of nginx and Apache, and JSON lines.

export type Logged = {
  readonly method: string
  /** As the request line had it: one character for each byte. */
  readonly target: string
  /** Address of the caller, as the log has it; '' where it has none. */
  readonly source: string
  /** What the logging server answered; undefined where the line does not say. */
  readonly status: number | undefined
}

/** One line of a log; undefined when there is no request in it. */
export function parseLogLine(line: string): Logged | undefined {
  throw new Error(`not yet ${line.length}`)
}
