// The records of a workbook stream ([MS-XLS]) one after the other; a record has 8,224 bytes at most, and CONTINUE records behind it.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export const recordTypes = {
  ...{ formula: 0x0006, eof: 0x000a, dateMode: 0x0022, filePass: 0x002f, continue: 0x003c, codePage: 0x0042 },
  ...{ boundSheet: 0x0085, multipleRk: 0x00bd, richText: 0x00d6, xf: 0x00e0, sharedTexts: 0x00fc, labelShared: 0x00fd },
  ...{ number: 0x0203, label: 0x0204, boolOrError: 0x0205, string: 0x0207, rk: 0x027e, format: 0x041e, bof: 0x0809 },
} as const

/** The view is valid until the next record is read. */
export type BiffRecord = { readonly type: number; readonly data: DataView }

const max_record_bytes = 65_535
const window_bytes = 262_144

export class BiffRecords {
  readonly #stream: RangeSource
  #at: number
  #window = new DataView(new ArrayBuffer(0))
  #windowStart = 0

  constructor(stream: RangeSource, start: number) {
    if (start >= stream.size) throw new DataFault('damaged: a sheet lies beyond the end of the workbook')
    this.#stream = stream
    this.#at = start
  }

  /** Position of the next record. */
  get position(): number {
    return this.#at
  }

  /** The type of the next record; undefined at the end of the stream. */
  peek(): number | undefined {
    return this.#at + 4 > this.#stream.size ? undefined : this.#view(4).getUint16(0, true)
  }

  /** Throws `DataFault` at the end of the stream. */
  next(): BiffRecord {
    if (this.#at + 4 > this.#stream.size) throw new DataFault('damaged: the workbook ends too early')
    const head = this.#view(4)
    const [type, length] = [head.getUint16(0, true), head.getUint16(2, true)]
    if (this.#at + 4 + length > this.#stream.size) throw new DataFault('damaged: the workbook ends within a record')
    const record = this.#view(4 + length)
    this.#at += 4 + length
    return { type, data: new DataView(record.buffer, record.byteOffset + 4, length) }
  }

  #view(length: number): DataView {
    if (this.#at < this.#windowStart || this.#at + length > this.#windowStart + this.#window.byteLength) {
      const end = Math.min(this.#stream.size, this.#at + Math.max(window_bytes, max_record_bytes + 4))
      this.#window = new DataView(this.#stream.read(this.#at, end))
      this.#windowStart = this.#at
    }
    return new DataView(this.#window.buffer, this.#at - this.#windowStart, length)
  }
}
