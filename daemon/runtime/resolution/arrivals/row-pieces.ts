// Reads the records of a file that was taken, in a thread: pieces of them in order, and no more than the service has taken.

import { changedFileError, type DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { inferDataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { describeDataFault } from '../../../../adapters/platform/data-file/describe-data-fault.ts'
import { detectDataFormat } from '../../../../adapters/platform/data-file/detect-data-format.ts'
import { openPlainFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import { DataFault } from '../../../kernel/data/data-fault.ts'
import type { FileRow, LeftOutRows, RefusedRow } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { createColumnFilter, getIdLimit } from '../../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { openRecordBlocks } from '../files/read-records.ts'

export type RowReadingJob = {
  readonly reading: 'rows'
  readonly path: string
  readonly name: string
  /** Of the file that the service has opened. */
  readonly version: string
  readonly lens: Lens
  readonly delimiter: string | undefined
  /** Records before it are not returned. */
  readonly first_row: number
  readonly max_listed: number
  /** The number of pieces that the service has taken. */
  readonly taken: Int32Array<SharedArrayBuffer>
}

export type RowPiece = { readonly rows: readonly FileRow[]; readonly left_out: LeftOutRows }
/** `isFinal`: another attempt finds the same. */
export type RowReadingResult = { readonly fault?: { readonly text: string; readonly isFinal: boolean } }

/** Of a piece: a few milliseconds of the event loop that receives it. */
const [max_piece_rows, max_piece_characters] = [500, 262_144]
/** Pieces that were sent and not taken. */
const max_ahead = 2
const wait_ms = 1_000

export async function readRowPieces(job: RowReadingJob, send: (piece: RowPiece) => void): Promise<RowReadingResult> {
  const pieces = new PieceSender(job, send)
  try {
    const file = openPlainFile(job.path)
    try {
      if (file.version !== job.version) throw changedFileError()
      await readFile(job, file, pieces)
    } finally {
      file.close()
    }
    return {}
  } catch (error) {
    const fault = describeDataFault(error)
    if (!fault) throw error
    const text = `${fault.text}${fault.remedy === undefined ? '' : ` (${fault.remedy})`}`
    return { fault: { text, isFinal: !(error instanceof TenantDataFileError) || error.isFinal } }
  } finally {
    pieces.send()
  }
}

async function readFile(job: RowReadingJob, file: DataFile, pieces: PieceSender): Promise<void> {
  const id = getIdLimit(job.lens)
  const kind = inferDataKind(job.name) ?? 'csv'
  const { format } = await detectDataFormat(file, { kind, delimiter: job.delimiter }, () => undefined)
  const blocks = await openRecordBlocks(file, {
    ...{ ...format, isWanted: createColumnFilter(job.lens), id, hasLines: true, onProgress: () => undefined },
    onReject: ({ reason, place: { line } }) => pieces.leaveOut({ line, reason }),
  })
  let first = 1
  for await (const block of blocks) {
    if (first === 1 && !block.names.includes(id.name)) throw new DataFault(describeMissingId(id.name, block))
    for (let at = Math.max(0, job.first_row - first); at < block.rows; at++) pieces.add(readRow(block, at, first + at))
    first += block.rows
  }
}

/** Waits in the thread, which has nothing else to do, while the service has not taken the pieces before. */
class PieceSender {
  readonly #job: RowReadingJob
  readonly #send: (piece: RowPiece) => void
  #rows: FileRow[] = []
  #characters = 0
  #left_out: { count: number; first: RefusedRow[] } = { count: 0, first: [] }
  #listed = 0
  #sent = 0

  constructor(job: RowReadingJob, send: (piece: RowPiece) => void) {
    this.#job = job
    this.#send = send
  }

  add(row: FileRow): void {
    this.#rows.push(row)
    for (const value of Object.values(row.record)) this.#characters += String(value).length
    if (this.#rows.length >= max_piece_rows || this.#characters >= max_piece_characters) this.send()
  }

  leaveOut(row: RefusedRow): void {
    this.#left_out.count += 1
    if (this.#listed++ < this.#job.max_listed) this.#left_out.first.push(row)
  }

  send(): void {
    if (this.#rows.length === 0 && this.#left_out.count === 0) return
    const { taken } = this.#job
    for (let count = Atomics.load(taken, 0); this.#sent - count >= max_ahead; count = Atomics.load(taken, 0))
      Atomics.wait(taken, 0, count, wait_ms)
    this.#send({ rows: this.#rows, left_out: this.#left_out })
    this.#sent += 1
    ;[this.#rows, this.#characters, this.#left_out] = [[], 0, { count: 0, first: [] }]
  }
}

const max_named_columns = 10

function describeMissingId(name: string, { names }: DataBlock): string {
  const first = names.slice(0, max_named_columns).map((each) => JSON.stringify(each))
  const rest = names.length > max_named_columns ? ` and ${names.length - max_named_columns} more` : ''
  return `it has no column ${name} for the id of its records; it has ${first.join(', ')}${rest}`
}

/** A missing value is left out. */
function readRow({ columns, lines }: DataBlock, at: number, row: number): FileRow {
  const record: Record<string, string> = {}
  for (const { name, bytes, starts, ends } of columns) {
    const start = starts[at] ?? -1
    if (start >= 0)
      record[name] = Buffer.from(bytes.buffer, bytes.byteOffset + start, (ends[at] ?? start) - start).toString()
  }
  return { row, line: lines?.[at], record }
}
