// Follows rows of a landed dataset to where they come from: over the datasets of tasks before, to the lines of files.
import { type PlaceUnit, placeUnitOf } from '../../../adapters/platform/data-file/data-kinds.ts'
import type { DatasetInput } from '../../kernel/data/landed-dataset.ts'
import type { OriginPlace } from '../../kernel/data/row-origins.ts'
import { fileFormats } from '../../roles/ingest/operator/read-as.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type DescribedDataset, findInputDataset } from './described-dataset.ts'
import { readRowPlaces } from './read-row-places.ts'

/** A row, or all rows of a dataset: `row` is absent. */
export type RowOrigin = {
  readonly folder: string
  /** `RUN/TASK`, where a run made it. */
  readonly dataset?: string
  /** Of the description of the dataset. */
  readonly sha256: string
  readonly row?: number
  /**
   * `one`: the row is that of a place, or of one in each of two datasets. `many`: a row is made of many rows. `unknown`: the dataset
   * was landed by an earlier release, which kept no places.
   */
  readonly made_of: 'one' | 'many' | 'unknown'
  readonly inputs: readonly InputOrigin[]
}

export type InputOrigin = Pick<DatasetInput, 'name' | 'bytes' | 'sha256' | 'read_as'> & {
  /** `file`, rows of a `source` that is not one, or a `dataset` of a task before. */
  readonly kind: 'file' | 'source' | 'dataset'
  /** Absent for all of the input. */
  readonly place?: number
  readonly unit?: PlaceUnit
  /** Absent for a dataset that is not beside the one that was made of it. */
  readonly origin?: RowOrigin
}

/** Datasets that are read: tasks may join what other tasks split. */
const max_datasets = 1_000

/** Characters of an answer as JSON: each row that is made of many repeats all of their files. */
const max_answer_length = 67_108_864

/** In place of a row: all rows of the dataset. */
const all_rows = 0

/** Returns the origin of each row, from 1. Throws `OfflineCommandError`: 1 for a row that the dataset does not have and for what is missing, 5 for what is damaged. */
export async function traceRows(
  dataset: DescribedDataset,
  rows: readonly number[],
): Promise<ReadonlyMap<number, RowOrigin>> {
  const { folder, content } = dataset
  for (const row of rows)
    if (row < 1 || row > content.rows)
      throw new OfflineCommandError(1, `${folder} has no row ${row}: it has ${content.rows}`, 'rows count from 1')
  return await new RowTracer().trace(dataset, rows)
}

class RowTracer {
  #datasets = 0
  readonly #lengths = new Map<RowOrigin, number>()

  async trace(dataset: DescribedDataset, rows: readonly number[]): Promise<Map<number, RowOrigin>> {
    if (++this.#datasets > max_datasets)
      throw new OfflineCommandError(1, `the rows come from more than ${max_datasets} datasets`)
    const { folder, content, sha256, name } = dataset
    const { origins } = content
    const made_of = origins === undefined ? 'unknown' : origins.length === 0 ? 'many' : 'one'
    const places = await findPlaces(dataset, rows)
    if (made_of === 'one' && rows.some((row) => places.get(row)?.length === 0))
      throw lyingOrigins(folder, 'its places name none for one of its rows')
    const before = await this.#traceInputs(dataset, [...places.values()].flat())
    let length = 0
    return new Map(
      rows.map((row) => {
        const inputs = (places.get(row) ?? []).flatMap((from) => {
          const input = content.inputs[from.input]
          return input ? [describeInput(input, from.place, before.get(from.input)?.get(from.place))] : []
        })
        const ofRow = row === all_rows ? {} : { row }
        const named = { folder, ...(name !== undefined && { dataset: name }), sha256 }
        const origin: RowOrigin = { ...named, ...ofRow, made_of, inputs }
        length += this.#measure(origin)
        if (length > max_answer_length) throw longAnswer()
        return [row, origin]
      }),
    )
  }

  #measure(made: RowOrigin): number {
    let length = JSON.stringify({ ...made, inputs: made.inputs.map(({ origin: _, ...input }) => input) }).length
    for (const { origin } of made.inputs) length += (origin && this.#lengths.get(origin)) ?? 0
    this.#lengths.set(made, length)
    return length
  }

  async #traceInputs(dataset: DescribedDataset, places: readonly OriginPlace[]) {
    const origins = new Map<number, Map<number, RowOrigin>>()
    for (const [at, input] of dataset.content.inputs.entries()) {
      const rows = places.filter((each) => each.input === at).map(({ place }) => place)
      const before = rows.length > 0 ? findInputDataset(dataset, input) : undefined
      const beyond = before && rows.find((row) => row > before.content.rows)
      if (beyond) throw lyingOrigins(dataset.folder, `its places name row ${beyond} of ${input.name}, which has fewer`)
      if (before) origins.set(at, await this.trace(before, [...new Set(rows)]))
    }
    return origins
  }
}

/** The places of each row; all rows of all inputs where there is no more to know. */
async function findPlaces(dataset: DescribedDataset, rows: readonly number[]): Promise<Map<number, OriginPlace[]>> {
  const { origins = [], inputs } = dataset.content
  const all = inputs.map((_, input) => ({ input, place: all_rows }))
  const single = rows.filter((row) => row !== all_rows)
  const files = single.length > 0 ? origins : []
  const found: ReadonlyMap<number, OriginPlace>[] = []
  for (const file of files) found.push(await readRowPlaces(dataset, file, single))
  return new Map(
    rows.map((row) => {
      const isAll = row === all_rows || files.length === 0
      return [row, isAll ? all : found.flatMap((places) => places.get(row) ?? [])]
    }),
  )
}

function longAnswer(): OfflineCommandError {
  const remedy = 'name fewer of them: `platform ingest origin DIR --row N` shows one'
  return new OfflineCommandError(1, 'the rows come from too many files to show them for each row', remedy)
}

function lyingOrigins(folder: string, what: string): OfflineCommandError {
  return new OfflineCommandError(5, `${folder} is damaged: ${what}`, 'land the dataset again')
}

function describeInput(
  { name, bytes, sha256, read_as, is_source }: DatasetInput,
  place: number,
  origin: RowOrigin | undefined,
): InputOrigin {
  const kind = read_as.format === 'dataset' ? 'dataset' : is_source ? 'source' : 'file'
  const format = fileFormats.find((each) => each === read_as.format)
  const unit = kind !== 'file' ? 'row' : format ? placeUnitOf(format) : 'record'
  return { kind, name, bytes, sha256, read_as, ...(place !== all_rows && { place, unit }), ...(origin && { origin }) }
}
