// Faults of data files.
import { encodingLabels, type TextEncodingName } from './utf8-source.ts'

/** Where a record begins: the line, from 1, on which the fault is, and the bytes of UTF-8 text before the record. */
export type RecordPlace = { readonly line: number; readonly offset: number }

/** A record that a tolerant reading left out. A file can have millions, so it is not an error. */
export type RejectedRecord = { readonly reason: string; readonly place: RecordPlace }

/** Reason of a record with bytes of another encoding. */
export const not_utf8 = 'bytes that are not UTF-8'

/** Reason of a record with bytes that are not of the encoding of the file. */
export function describeForeignBytes(encoding: TextEncodingName): string {
  return encoding === 'utf-8' ? not_utf8 : `bytes that are not ${encodingLabels[encoding]}`
}

/** A fault of the content of a data file. The message says which line has it, where the format has lines. */
export class DataFault extends Error {
  readonly place: RecordPlace | undefined
  /** What is wrong, without the line. */
  readonly reason: string

  constructor(reason: string, place?: RecordPlace) {
    super(place ? `line ${place.line}: ${reason}` : reason)
    this.name = 'DataFault'
    this.reason = reason
    this.place = place
  }
}
