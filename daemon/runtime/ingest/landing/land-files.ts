// Lands files as one dataset: its types hold for every row, and a row that does not fit a stated type is left out and kept.

import { findMisfits, leaveOutRows } from '../../../kernel/data/check-values.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import { DataFault } from '../../../kernel/data/data-fault.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DatasetCursor, DatasetInput, LandedDataset, MediaFile } from '../../../kernel/data/landed-dataset.ts'
import { alignBlock, hasValue } from './align-block.ts'
import { DatasetFiles } from './dataset-files.ts'
import { DatasetFolder, type PathRunner } from './dataset-folder.ts'
import { type ExaminedInput, examineInput, type LandingInput, readInput } from './landing-input.ts'
import { LandingSchema } from './landing-schema.ts'
import { InputMedia } from './media-files.ts'
import { OriginLog } from './origin-log.ts'
import type { RejectLimit } from './reject-limit.ts'
import { RejectLog } from './reject-log.ts'
import { writeManifest } from './write-manifest.ts'

export type LandingProgress = {
  readonly phase: 'digest' | 'write' | 'infer'
  readonly done: number
  readonly total: number
}

export type LandingOptions = {
  /** Their rows follow each other. */
  readonly inputs: readonly LandingInput[]
  /** New folder of the dataset. */
  readonly out: string
  /** Types of columns; those of others are stated by the file or inferred. */
  readonly columns: DataSchema
  readonly limit: RejectLimit
  readonly runAs: PathRunner
  readonly signal?: AbortSignal | undefined
  /** Where the dataset is until it is whole: a folder of the same disk. Default: that of `out`. */
  readonly drafts?: string
  readonly onDrafted?: () => void
  /** The cursor of the dataset, by the inputs that landed. */
  readonly describeCursor?: ((inputs: readonly DatasetInput[]) => DatasetCursor) | undefined
}

export type LandingResult = {
  readonly dataset: LandedDataset
  /** By the label of the input. */
  readonly remarks: readonly string[]
}

/** A value, or a column, that the schema of the sample has no room for. */
class SchemaMiss extends Error {}

/**
 * Writes the folder whole or not at all. Throws `LandingError`, the reason of the signal, and what `onProgress` throws. The same
 * inputs give the same bytes.
 */
export async function landFiles(
  options: LandingOptions,
  onProgress: (progress: LandingProgress) => void,
): Promise<LandingResult> {
  const folder = new DatasetFolder(options.out, options.runAs, options.drafts)
  try {
    const landing = new Landing(options, folder, onProgress)
    const result = await landing.run()
    options.onDrafted?.()
    folder.publish()
    return result
  } finally {
    folder.discard()
  }
}

class Landing {
  readonly #options: LandingOptions
  readonly #folder: DatasetFolder
  readonly #onProgress: (progress: LandingProgress) => void
  #inputs: readonly ExaminedInput[] = []
  #total = 0

  constructor(options: LandingOptions, folder: DatasetFolder, onProgress: (progress: LandingProgress) => void) {
    this.#options = options
    this.#folder = folder
    this.#onProgress = onProgress
  }

  async run(): Promise<LandingResult> {
    const inputs: ExaminedInput[] = []
    for (const input of this.#options.inputs)
      inputs.push(await examineInput(input, (done) => this.#report('digest', done)))
    this.#inputs = inputs
    this.#total = inputs.reduce((sum, { size }) => sum + size, 0)
    const content = await this.#writeContent()
    const cursor = this.#options.describeCursor?.(content.inputs)
    const dataset = writeManifest(this.#folder, { ...content, ...(cursor && { cursor }) })
    const remarks = inputs.flatMap(({ label, remarks }) =>
      remarks.length > 0 ? [`${label} is read as ${remarks.join(', ')}`] : [],
    )
    return { dataset, remarks }
  }

  #report(phase: LandingProgress['phase'], done: number): void {
    this.#options.signal?.throwIfAborted()
    this.#onProgress({ phase, done, total: phase === 'digest' ? 0 : this.#total })
  }

  /** The types of the first block serve most files, which are read once then. Otherwise all rows decide before any is written. */
  async #writeContent(): Promise<Omit<LandedDataset, 'format'>> {
    try {
      return await this.#write(new LandingSchema(this.#options.columns, false))
    } catch (error) {
      if (!(error instanceof SchemaMiss)) throw error
    }
    this.#folder.empty()
    const schema = new LandingSchema(this.#options.columns, true)
    await this.#read('infer', new RejectLog(this.#folder, { count: Number.POSITIVE_INFINITY }), (block, input) =>
      schema.add(block, input),
    )
    this.#folder.empty()
    return await this.#write(schema)
  }

  async #write(schema: LandingSchema): Promise<Omit<LandedDataset, 'format'>> {
    const rejects = new RejectLog(this.#folder, this.#options.limit)
    const origins = new OriginLog(this.#folder, 1)
    const media: MediaFile[] = []
    let files: DatasetFiles | undefined
    const inputs = await this.#read(
      'write',
      rejects,
      async (block, input, at) => {
        if (!files && !schema.isComplete) schema.add(block, input)
        files ??= await DatasetFiles.open(this.#folder, schema.columns())
        const good = this.#leaveOut(block, schema, rejects)
        writeBlock(files, good, schema)
        if (good.lines) origins.add(at, good.rows, good.lines)
        rejects.check(files.rows, false)
        return good.rows
      },
      async (found, onRead) => {
        media.push(...(await found.copy(this.#folder, onRead)))
      },
    )
    schema.requireStated()
    files ??= await DatasetFiles.open(this.#folder, schema.columns())
    rejects.check(files.rows, true)
    const rows = files.rows
    const file = rejects.finish()
    const origin = origins.finish()
    return {
      columns: [...schema.columns()],
      rows,
      files: [...files.finish()],
      inputs,
      rejects: { rows: rejects.count, ...(file && { file }) },
      origins: origin ? [origin] : [],
      ...(media.length > 0 && { media }),
      widened: schema.widened(),
    }
  }

  /** Reads all inputs; `onBlock` returns the rows that it kept, and `onMedia` receives the media of inputs with rows. */
  async #read(
    phase: LandingProgress['phase'],
    rejects: RejectLog,
    onBlock: (block: DataBlock, input: ExaminedInput, at: number) => number | Promise<number>,
    onMedia?: (media: InputMedia, onRead: (bytes: number) => void) => Promise<void>,
  ): Promise<DatasetInput[]> {
    const descriptions: DatasetInput[] = []
    let done = 0
    for (const [at, input] of this.#inputs.entries()) {
      let rows = 0
      rejects.beginInput(input.name, input.unit)
      for (const record of input.leftOut?.() ?? []) rejects.addWhole(record)
      const onReject = ({ reason, place }: { reason: string; place: { line: number } }, beginning?: Uint8Array) =>
        rejects.addBytes({ place: place.line, reason }, beginning)
      const onRead = (bytes: number) => this.#report(phase, done + bytes)
      const media = InputMedia.of(input, at)
      await readInput(input, { onReject, onRead }, async (block) => {
        rows += await onBlock(media?.extend(block) ?? block, input, at)
      })
      if (media && rows > 0) await onMedia?.(media, onRead)
      done += input.size
      descriptions.push({ ...input.description, rows, rejects: rejects.input_count })
    }
    return descriptions
  }

  #leaveOut(block: DataBlock, schema: LandingSchema, rejects: RejectLog): DataBlock {
    const aligned = alignBlock(block, schema.columns())
    if (!aligned) throw new SchemaMiss()
    const left = new Set<number>()
    if (schema.hasStated)
      findMisfits(aligned, schema.statedColumns(), (row, { name, type, unit }, text) => {
        if (left.has(row)) return
        left.add(row)
        const found = text === undefined ? 'is missing' : `is ${JSON.stringify(text.slice(0, 40))}`
        const reason = `${JSON.stringify(name)} ${found}; it must be ${type}${unit ? ` in ${unit}` : ''}`
        rejects.addRow({ place: block.lines?.[row], column: name, reason }, aligned, row)
      })
    return left.size === 0 ? aligned : leaveOutRows(aligned, left)
  }
}

function writeBlock(files: DatasetFiles, block: DataBlock, schema: LandingSchema): void {
  if (!schema.isComplete && schema.undecided().some((at) => hasValue(block, at))) throw new SchemaMiss()
  try {
    files.write(block)
  } catch (error) {
    if (error instanceof DataFault && !schema.isComplete) throw new SchemaMiss()
    throw error
  }
}
