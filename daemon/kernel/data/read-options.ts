// What a reader of data files reads, and what it refuses.
import type { RejectedRecord } from './data-fault.ts'

/** Limits of a file. A record of text is read as a whole, so it also has a limit: `max_record_bytes`. */
export type DataLimits = {
  readonly rows: number
  readonly names: number
  /** Maximum bytes of a value, by the name of its column. */
  maxFieldBytes(name: string): number
}

/** Maximum bytes of a record of text. */
export const max_record_bytes = 16_777_216

/** Bytes of a record that is left out which `onReject` receives at most. */
export const max_beginning_bytes = 4_096

const max_field_bytes = 1_048_576

/** Limits for data of unknown origin. */
export const usualLimits: DataLimits = { rows: 50_000_000, names: 4_096, maxFieldBytes: () => max_field_bytes }

export type DataReadOptions = {
  readonly limits: DataLimits
  /** Selects the columns to read. The values of others are not stored. */
  readonly isSelected: (name: string) => boolean
  /**
   * Selected columns whose values reject no record, and end no reading, for having no text: those of JSON are written as JSON,
   * and others are missing.
   */
  readonly isOptional?: ((name: string) => boolean) | undefined
  /**
   * Receives each record that is left out, and the beginning of its bytes where the format has them, which are valid during
   * the call. Without it, the first fault ends the reading. Faults of the whole file always do: too many rows or columns, and
   * column names that cannot be used.
   */
  readonly onReject?: ((record: RejectedRecord, beginning?: Uint8Array) => void) | undefined
  /** Whether blocks have the lines of their rows. */
  readonly hasLines?: boolean | undefined
  /** Rows of a block at most (default: what memory allows). Blocks of few rows stay in the cache of a processor. */
  readonly block_rows?: number | undefined
}
