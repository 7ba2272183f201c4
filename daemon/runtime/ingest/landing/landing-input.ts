// A file that is landed: how it is read, its digest, and its blocks.
import { setImmediate } from 'node:timers/promises'
import { changedFileError, type DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import {
  type DataFormat,
  hasLongValues,
  hasObjects,
  openBlocks,
  type PlaceUnit,
  placeUnitOf,
} from '../../../../adapters/platform/data-file/data-kinds.ts'
import { describeDataFault } from '../../../../adapters/platform/data-file/describe-data-fault.ts'
import { detectDataFormat } from '../../../../adapters/platform/data-file/detect-data-format.ts'
import { type DataBlock, numberRows } from '../../../kernel/data/data-block.ts'
import type { DatasetInput } from '../../../kernel/data/landed-dataset.ts'
import { type DataReadOptions, max_record_bytes, usualLimits } from '../../../kernel/data/read-options.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { LandingError } from './landing-error.ts'

/** A record that is left out whatever the file has, as a whole. `encoding`: of `record`, where its bytes are not text. */
export type LeftOutRecord = {
  readonly place: number
  readonly reason: string
  readonly record: string
  readonly encoding?: 'base64'
}

export type LandingInput = {
  /** Without folders, for the description of the dataset. */
  readonly name: string
  /** The file in messages. */
  readonly label: string
  /** Throws `DataFileError`. The caller closes the file. */
  open(): DataFile | Promise<DataFile>
  readonly format: DataFormat
  /** Whether the file has the rows of a source, and is removed. */
  readonly isSource?: boolean
  /** Records of the source that are not in the file. */
  readonly leftOut?: () => Iterable<LeftOutRecord>
  /** The digest that it must have, where that is known. */
  readonly sha256?: string
}

/** An input whose format and digest are known. */
export type ExaminedInput = LandingInput & {
  readonly size: number
  readonly version: string
  readonly unit: PlaceUnit
  readonly remarks: readonly string[]
  readonly description: Omit<DatasetInput, 'rows' | 'rejects'>
}

/** Receives the bytes of the input that were read so far; what it throws ends the reading. */
export type ByteListener = (done: number) => void

/** Rows that are read and written together. */
const block_rows = 16_384
const piece_bytes = 1 << 18
/** A dataset may have more rows than one reading of records for resolution. */
const landing_limits = { ...usualLimits, rows: 2_000_000_000 }

export async function examineInput(input: LandingInput, onRead: ByteListener): Promise<ExaminedInput> {
  return await withFile(input, undefined, async (file) => {
    const digested = runningDigest()
    const buffer = new Uint8Array(Math.min(file.size, piece_bytes))
    for (let at = 0; at < file.size; at += piece_bytes) {
      const piece = buffer.subarray(0, file.size - at)
      file.fill(piece, at)
      digested.add(piece)
      onRead(at)
      await setImmediate()
    }
    const sha256 = digested.hex()
    if (input.sha256 !== undefined && input.sha256 !== sha256)
      throw new LandingError(`${input.label} is not the file that was taken: its digest differs`)
    const { format, remarks } = await detectDataFormat(file, input.format, () => onRead(file.size))
    const unit = placeUnitOf(format.kind)
    const read_as = describeFormat(format)
    const { name, isSource } = input
    const description = { name, bytes: file.size, sha256, read_as, ...(isSource && { is_source: true as const }) }
    return { ...input, format, size: file.size, version: file.version, unit, remarks, description }
  })
}

function describeFormat({
  kind,
  encoding,
  delimiter,
  quote,
  sheet,
  pointer,
  srs,
}: DataFormat): DatasetInput['read_as'] {
  return {
    format: kind,
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
    ...(quote !== undefined && { quote }),
    ...(sheet !== undefined && { sheet }),
    ...(pointer !== undefined && { pointer }),
    ...(srs !== undefined && { srs }),
  }
}

/** Hands the blocks of the input on, each with its places and before the next one is read. Throws `LandingError` for a fault of the file. */
export async function readInput(
  input: ExaminedInput,
  { onReject, onRead }: { readonly onReject: NonNullable<DataReadOptions['onReject']>; readonly onRead: ByteListener },
  onBlock: (block: DataBlock) => void | Promise<void>,
): Promise<void> {
  const { kind } = input.format
  const limits = hasLongValues(kind) ? { ...landing_limits, maxFieldBytes: () => max_record_bytes } : landing_limits
  const options = {
    ...{ limits, isSelected: () => true, onReject, hasLines: true, block_rows },
    // Objects are kept as JSON.
    ...(hasObjects(kind) && { isOptional: () => true }),
  }
  await withFile(input, input.version, async (file) => {
    let before = 0
    for await (const block of await openBlocks(file, input.format, options, onRead)) {
      // A format without lines leaves out no record.
      await onBlock(block.lines ? block : { ...block, lines: numberRows(before + 1, block.rows) })
      before += block.rows
      // A signal is seen between two blocks.
      await setImmediate()
    }
  })
}

/** Hands the bytes of a range of the input on, piece by piece. Throws `LandingError`. */
export async function copyInput(
  input: ExaminedInput,
  { start, end }: { readonly start: number; readonly end: number },
  write: (bytes: Uint8Array) => void,
  onRead: ByteListener,
): Promise<void> {
  await withFile(input, input.version, async (file) => {
    for (let at = start; at < end; at += piece_bytes) {
      write(new Uint8Array(file.read(at, Math.min(end, at + piece_bytes))))
      onRead(at)
      await setImmediate()
    }
  })
}

async function withFile<T>(
  input: LandingInput,
  version: string | undefined,
  read: (file: DataFile) => Promise<T>,
): Promise<T> {
  try {
    const file = await input.open()
    try {
      if (version !== undefined && file.version !== version) throw changedFileError()
      const result = await read(file)
      file.checkUnchanged()
      return result
    } finally {
      file.close()
    }
  } catch (error) {
    const fault = describeDataFault(error)
    throw fault ? new LandingError(`${input.label}${fault.text}`, fault.remedy) : error
  }
}
