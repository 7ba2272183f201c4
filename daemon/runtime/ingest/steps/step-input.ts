// A landed dataset that a step takes: its columns, and its rows as often as the step needs them.
import { setImmediate } from 'node:timers/promises'
import { openBlocks } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { openLandedFolder } from '../../../../adapters/platform/data-file/landed-folder.ts'
import { type DataBlock, numberRows, type TextColumn } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import { usualLimits } from '../../../kernel/data/read-options.ts'
import type { LandedSummary } from '../../../roles/ingest/dataset/model.ts'
import { LandingError } from '../landing/landing-error.ts'
import { readManifest } from './dataset-store.ts'

export type StepInput = {
  /** The task that made it. */
  readonly name: string
  readonly summary: LandedSummary
  readonly columns: DataSchema
  /** The rows, with these columns alone and in this order (default: all). Each block has the numbers of its rows as lines. */
  blocks(names?: readonly string[]): AsyncGenerator<DataBlock, void, undefined>
  close(): void
}

const input_limits = { ...usualLimits, rows: 2_000_000_000, names: 4_096 }

/** Throws `LandingError` where the dataset is not as it landed. The caller closes it. */
export function openStepInput(folder: string, summary: LandedSummary): StepInput {
  const name = summary.dataset.split('/').at(-1) ?? summary.dataset
  const reading = readManifest(folder)
  if (reading?.digest !== summary.digest)
    throw new LandingError(`the dataset of the task ${name} is not what its run made: run the pipeline again`)
  const { columns } = reading.dataset
  const file = openLandedFolder(folder)
  return {
    ...{ name, summary, columns },
    async *blocks(names = columns.map((column) => column.name)) {
      const wanted = new Set(names)
      const options = { limits: input_limits, isSelected: (each: string) => wanted.has(each) }
      let first = 1
      for await (const block of await openBlocks(file, { kind: 'dataset' }, options, () => undefined)) {
        yield { ...block, names, columns: pickColumns(block, names), lines: numberRows(first, block.rows) }
        first += block.rows
        await setImmediate()
      }
      file.checkUnchanged()
    },
    close: () => file.close(),
  }
}

function pickColumns({ columns }: DataBlock, names: readonly string[]): TextColumn[] {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return names.map((name) => {
    const column = byName.get(name)
    if (!column) throw new Error('a landed dataset lacks a column of its description')
    return column
  })
}
