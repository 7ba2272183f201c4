// The records that a landing leaves out: as lines of a file, and counted.
import type { PlaceUnit } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { readText } from '../../../kernel/data/check-values.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import { dataset_rejects_name } from '../../../kernel/data/landed-dataset.ts'
import type { DatasetFolder, FolderFile } from './dataset-folder.ts'
import { LandingError } from './landing-error.ts'
import type { LeftOutRecord } from './landing-input.ts'
import { describeRejectLimit, exceedsRejectLimit, type RejectLimit } from './reject-limit.ts'

/** The field of a place: `record` is that of the text. */
const place_fields = { line: 'line', row: 'row', record: 'number' } as const satisfies Record<PlaceUnit, string>

export type RejectReason = { readonly place: number | undefined; readonly column?: string; readonly reason: string }

/** Characters of a record that the file keeps. */
const max_record_characters = 2_000
const max_named = 10
const max_pending = 10_000
const max_pending_characters = 33_554_432

export class RejectLog {
  readonly #folder: DatasetFolder
  readonly #limit: RejectLimit
  readonly #first: string[] = []
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #file: FolderFile | undefined
  /** Rejects since the last block, which are put in order. */
  #pending: { readonly place: number; readonly text: string; readonly named: string }[] = []
  #pending_characters = 0
  #input = ''
  #unit: PlaceUnit = 'line'
  count = 0
  /** Of the input. */
  input_count = 0

  constructor(folder: DatasetFolder, limit: RejectLimit) {
    this.#folder = folder
    this.#limit = limit
  }

  beginInput(name: string, unit: PlaceUnit): void {
    this.#flush()
    this.#input = name
    this.#unit = unit
    this.input_count = 0
  }

  /** Adds a record as the file has it. */
  addBytes(reason: RejectReason, beginning: Uint8Array | undefined): void {
    this.#add(reason, beginning === undefined ? '' : this.#decoder.decode(beginning))
  }

  /** Adds a row of a block, as JSON. */
  addRow(reason: RejectReason, block: DataBlock, row: number): void {
    const values = block.columns.map((column) => [column.name, readText(column, row)?.slice(0, max_record_characters)])
    this.#add(reason, JSON.stringify(Object.fromEntries(values.filter(([, value]) => value !== undefined))))
  }

  /** Adds a record that is nowhere else, whatever its length. */
  addWhole({ place, reason, record, encoding }: LeftOutRecord): void {
    this.#write({ place, reason }, { record, ...(encoding && { encoding }) })
  }

  #add(reason: RejectReason, text: string): void {
    const isCut = text.length > max_record_characters
    const record = text.slice(0, max_record_characters).toWellFormed()
    this.#write(reason, { record, ...(isCut && { truncated: true }) })
  }

  #write({ place, column, reason }: RejectReason, kept: Readonly<Record<string, unknown>>): void {
    this.count++
    this.input_count++
    const at = { [place_fields[this.#unit]]: place }
    const line = { input: this.#input, ...at, column, reason, ...kept }
    const named = `${this.#input}${place === undefined ? '' : `, ${this.#unit} ${place}`}: ${reason}`
    const written = `${JSON.stringify(line)}\n`
    this.#pending.push({ place: place ?? 0, text: written, named })
    this.#pending_characters += written.length
    if (this.#pending.length >= max_pending || this.#pending_characters >= max_pending_characters) this.#flush()
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    this.#file ??= this.#folder.create(dataset_rejects_name)
    const sorted = this.#pending.toSorted((a, b) => a.place - b.place)
    this.#pending = []
    this.#pending_characters = 0
    this.#file.write(Buffer.from(sorted.map(({ text }) => text).join('')))
    this.#first.push(...sorted.slice(0, max_named - this.#first.length).map(({ named }) => named))
  }

  /** Throws `LandingError` where more records were left out than may be. */
  check(landed: number, isEnd: boolean): void {
    this.#flush()
    if (!exceedsRejectLimit(this.#limit, this.count, landed, isEnd)) return
    const all = this.count + landed
    const share = ((this.count / all) * 100).toPrecision(3)
    const rest = this.count > this.#first.length ? [`and ${this.count - this.#first.length} more`] : []
    throw new LandingError(
      `${this.count} of ${isEnd ? '' : 'the first '}${all} records do not fit (${share} %); ${describeRejectLimit(this.#limit)}`,
      'state other types (--columns-file), correct the records, or allow more (--max-rejects)',
      [...this.#first, ...rest],
    )
  }

  /** Ends the file; undefined without rejects. */
  finish() {
    this.#flush()
    return this.#file?.finish()
  }
}
