// The contract of the journal to which a thread writes its audit lines.

export interface AuditLineWriter {
  /** Buffers one line, given without its line break. */
  add(line: string): void
  /** Hands all buffered lines to the operating system. Does not throw when the disk fails: lines are kept or counted as lost. */
  flush(): void
  /** Lines that were dropped since the writer was created. */
  readonly lost: number
}
