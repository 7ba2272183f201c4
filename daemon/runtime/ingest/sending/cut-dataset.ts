// Cuts a landed dataset into parts that fit into messages between sites: files of rows, and the digest of all of them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../../kernel/data/check-values.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { bodyLimits } from '../../../kernel/messaging/body-limits.ts'
import type { LandedSummary } from '../../../roles/ingest/dataset/model.ts'
import {
  countNameCharacters,
  type DatasetPart,
  max_name_characters,
  max_part_line_bytes,
  max_parts,
  max_sent_columns,
  type SentColumn,
} from '../../../roles/ingest/federation/model.ts'
import { renderRow } from '../../../roles/ingest/federation/row-lines.ts'
import { LandingError } from '../landing/landing-error.ts'
import { inputFolder } from '../steps/dataset-store.ts'
import { openStepInput } from '../steps/step-input.ts'

/** `cut`: a new folder for the parts. */
export type CutThreadJob = {
  readonly cut: string
  readonly datasets: string
  readonly tenant_id: string
  readonly dataset: LandedSummary
}

export type CutResult = {
  readonly columns: SentColumn[]
  readonly parts: number
  readonly rows: number
  readonly sha256: string
}

/** Below those of a body, with room for the members around the rows. */
const part_bytes = 3 * 1_048_576
const part_values = bodyLimits.max_values - 8_000
const part_escapes = bodyLimits.max_escapes - 20_000

/** Returns a reason for data that no message can carry. */
export async function cutDataset(job: CutThreadJob): Promise<CutResult | { readonly reason: string }> {
  rmSync(job.cut, { recursive: true, force: true })
  mkdirSync(job.cut, { recursive: true, mode: 0o700 })
  try {
    return await writeParts(job)
  } catch (error) {
    if (!(error instanceof LandingError)) throw error
    return { reason: error.message }
  }
}

export function partName(number: number): string {
  return `${number}.json`
}

async function writeParts(job: CutThreadJob): Promise<CutResult> {
  const input = openStepInput(inputFolder(job, job.dataset), job.dataset)
  try {
    const columns = input.columns.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    if (columns.length > max_sent_columns)
      throw new LandingError(`the dataset has ${columns.length} columns: ${max_sent_columns} can be sent`)
    const characters = countNameCharacters(columns)
    if (characters > max_name_characters)
      throw new LandingError(
        `the names of all columns have ${characters} characters: ${max_name_characters} can be sent`,
      )
    const writer = new PartWriter(job.cut, columns)
    for await (const block of input.blocks())
      for (let row = 0; row < block.rows; row++)
        writer.add(block.columns.map((column) => readText(column, row) ?? null))
    return { columns, ...writer.finish() }
  } finally {
    input.close()
  }
}

type PartRow = DatasetPart['rows'][number]

class PartWriter {
  readonly #folder: string
  readonly #columns: readonly SentColumn[]
  readonly #digest = runningDigest()
  #rows: PartRow[] = []
  #held = { bytes: 0, values: 0, escapes: 0, line_bytes: 0 }
  #count = 0
  #parts = 0

  constructor(folder: string, columns: readonly SentColumn[]) {
    this.#folder = folder
    this.#columns = columns
  }

  add(row: PartRow): void {
    const text = JSON.stringify(row)
    // Characters that JSON writes with a backslash.
    const escapes = row.reduce((sum, value) => sum + (value?.match(/["\\\p{Cc}\p{Cs}]/gu)?.length ?? 0), 0)
    const line = Buffer.from(renderRow(this.#columns, row))
    const size = { bytes: Buffer.byteLength(text) + 1, values: row.length + 1, escapes, line_bytes: line.length }
    if (size.bytes > part_bytes || escapes > part_escapes || line.length > max_part_line_bytes)
      throw new LandingError(
        `row ${this.#count + 1} is larger than a message: ${size.bytes} bytes in JSON, ${escapes} escapes`,
      )
    const { bytes, values, escapes: held, line_bytes } = this.#held
    const isFull =
      bytes + size.bytes > part_bytes || values + size.values > part_values || held + escapes > part_escapes
    if (isFull || line_bytes + line.length > max_part_line_bytes) this.#write()
    this.#rows.push(row)
    this.#held = {
      bytes: this.#held.bytes + size.bytes,
      values: this.#held.values + size.values,
      escapes: this.#held.escapes + escapes,
      line_bytes: this.#held.line_bytes + line.length,
    }
    this.#digest.add(line)
    this.#count += 1
  }

  /** A dataset without rows is one part, which has its columns. */
  finish(): Omit<CutResult, 'columns'> {
    if (this.#rows.length > 0 || this.#parts === 0) this.#write()
    return { parts: this.#parts, rows: this.#count, sha256: this.#digest.hex() }
  }

  #write(): void {
    this.#parts += 1
    if (this.#parts > max_parts)
      throw new LandingError(`the dataset needs more than ${max_parts} messages: send a part of its rows or columns`)
    writeFileSync(join(this.#folder, partName(this.#parts)), JSON.stringify(this.#rows), { mode: 0o600 })
    this.#rows = []
    this.#held = { bytes: 0, values: 0, escapes: 0, line_bytes: 0 }
  }
}
