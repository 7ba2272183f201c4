// The file of labels of a session: a line for each answer, on disk before the call returns.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { syncFolder } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { isAnswer } from '../pair-answers.ts'
import { formatCsvLine, label_columns } from './label-line.ts'

const head = formatCsvLine(label_columns)

/** Throws `OfflineCommandError` (3) for a file that is not one of a session. */
export function requireLabelJournal(file: string): void {
  runAsInvoker(() => {
    // An empty file is one whose first line did not reach the disk.
    if (!existsSync(file) || statSync(file).size === 0) return
    const first = readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
    if (first.replace(/^\ufeff/, '') === head) return
    const remedy = 'name a new file; training takes this one as its labels'
    throw new OfflineCommandError(3, `${file} has other columns than ${head}`, remedy)
  })
}

/** Five cells, the last one without quotation marks. A line that ends earlier may have a number there that is part of an id. */
const wholeLine = /^(?:(?:"(?:[^"]|"")*"|[^",]*),){4}([^",]+)$/

export class LabelJournal {
  readonly #file: string
  readonly #opened: number

  /** Opens the file, or creates it for its owner alone. Throws `OfflineCommandError` (1). */
  constructor(file: string) {
    this.#file = file
    requireLabelJournal(file)
    const isNew = runAsInvoker(() => !existsSync(file) || statSync(file).size === 0)
    try {
      this.#opened = runAsInvoker(() => openSync(file, 'a+', 0o600))
    } catch (error) {
      throw this.#fault(error)
    }
    if (isNew) {
      this.#write(`${head}\n`)
      runAsInvoker(() => syncFolder(dirname(resolve(file))))
    } else this.#endLastLine()
  }

  /** Appends an answer; it is on disk when the call returns. Throws `OfflineCommandError` (1). */
  append(cells: readonly string[]): void {
    this.#write(`${formatCsvLine(cells)}\n`)
  }

  close(): void {
    closeSync(this.#opened)
  }

  /** A line without an end is either whole, by the hand of a person, or was never confirmed. */
  #endLastLine(): void {
    const text = runAsInvoker(() => readFileSync(this.#file))
    const end = text.lastIndexOf(10) + 1
    if (end === text.length) return
    const [, answer = ''] = wholeLine.exec(text.subarray(end).toString('utf8').trimEnd()) ?? []
    if (isAnswer(answer)) this.#write('\n')
    else ftruncateSync(this.#opened, end)
  }

  #write(text: string): void {
    const { size } = fstatSync(this.#opened)
    try {
      const bytes = Buffer.from(text)
      if (writeSync(this.#opened, bytes) !== bytes.length) throw Object.assign(new Error(), { code: 'ENOSPC' })
      fsyncSync(this.#opened)
    } catch (error) {
      ftruncateSync(this.#opened, size)
      throw this.#fault(error)
    }
  }

  #fault(error: unknown): OfflineCommandError {
    const { code } = error as NodeJS.ErrnoException
    return new OfflineCommandError(1, `${this.#file} cannot be written: ${code}`, 'earlier answers are kept')
  }
}
