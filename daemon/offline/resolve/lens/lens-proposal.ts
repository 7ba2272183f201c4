// Profiles the beginning of a data file and proposes a lens for it.
import { basename, extname } from 'node:path'
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { placeUnitOf } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { DataBlocks } from '../../../kernel/data/data-block.ts'
import type { RejectedRecord } from '../../../kernel/data/data-fault.ts'
import { alignColumns } from '../../../roles/resolution/engine/records/align-columns.ts'
import { collectColumns } from '../../../roles/resolution/engine/records/collect-columns.ts'
import { type ColumnProfile, profileColumns } from '../../../roles/resolution/engine/records/profile.ts'
import { findRepeatedColumns } from '../../../roles/resolution/engine/records/repeated-columns.ts'
import { draftLens } from '../../../roles/resolution/lens/draft-lens.ts'
import type { LensField } from '../../../roles/resolution/lens/field.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { areTextsIdentifying, limitFields, proposeFields } from '../../../roles/resolution/lens/propose-fields.ts'
import { proposeListedFields } from '../../../roles/resolution/lens/propose-listed-fields.ts'
import { openRecordBlocks } from '../../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { detectFormat, type FileInputOptions, type ReadSource, withDataFile } from '../data-file.ts'
import { handleBadRows, type RecordReading, refuseOtherSeparator, remarkReading } from '../lens-records.ts'
import { BadRowCollector } from '../reading/bad-rows.ts'
import { type ReadingSummary, summarizeReading, toFileReading } from '../reading/file-reading.ts'
import { nameFile, nameSource } from '../reading/source-names.ts'
import { listShippedLenses, readLens } from './lens-file.ts'
import { proposeIds, remarkFaultyIds } from './proposed-ids.ts'

/** The sample ends with the block that reaches this size. */
const sample_bytes = 16_777_216
/** Values of all columns of the sample, missing ones too: a column that appears late has one for each row. */
const max_sample_values = 33_554_432

export type LensProposal = {
  readonly sources: readonly {
    readonly file: string
    readonly records: number
    /** Whether the sample has all records of the file. */
    readonly isWhole: boolean
    readonly read_as: ReadingSummary
    /** Column that names its records; undefined where none does. */
    readonly id_field: string | undefined
    readonly columns: readonly ColumnProfile[]
  }[]
  /** That of every source; undefined where they differ. */
  readonly id_field: string | undefined
  readonly yaml: string
}

/** Proposes a lens for one or more sources. Throws `OfflineCommandError` (1) if a file cannot be read or is invalid. */
export async function proposeLens(
  files: readonly string[],
  reading: Omit<RecordReading, 'makesIds'> = {},
): Promise<LensProposal> {
  const samples = await readSamples(files, reading)
  const shipped = listShippedLenses().map((name) => readLens(name))
  const base = findBaseLens(shipped, samples)
  const known = listKnownColumns(base ? [base] : shipped)
  const types = new Map(known.map(([column, { type }]) => [column, type]))
  const names = new Map(known.map(([column, { name }]) => [column, name]))
  const profiled = samples.map((source) => ({ source, profiles: profileColumns(source, types) }))
  const ids = proposeIds(profiled, (column) => names.has(column.toLowerCase()))
  remarkFaultyIds(ids, samples, reading.onRemark)
  const furtherIds = new Set(ids.omitted.map(({ profile }) => profile))
  const withoutId = profiled.map(({ source, profiles }, at) => ({
    source,
    profiles: profiles.filter((each) => each.column !== ids.bySource[at]?.column && !furtherIds.has(each)),
  }))
  const aligned = alignColumns(withoutId, (column) => names.get(column.toLowerCase()))
  const repeated = new Map(withoutId.flatMap((each) => [...findRepeatedColumns(each)]))
  const proposal = proposeFields(aligned, names, repeated)
  const single = withoutId.flatMap(({ profiles }) => profiles.filter(({ type }) => type === undefined))
  const told_by = base?.told_by ?? (areTextsIdentifying(proposal.fields) ? 'texts' : 'fields')
  const listed = told_by === 'texts' ? proposeListedFields(samples, proposal.fields, base?.fields) : []
  const { fields, omitted } = limitFields(proposal, listed)
  if (fields.length === 0)
    throw new OfflineCommandError(
      1,
      `${files.map(nameFile).join(' and ')}: no column besides the id with different values`,
    )
  const yaml = draftLens({
    name: deriveLensName(files[0] ?? ''),
    sources: samples.map(({ name, rows }, at) => ({ name, records: rows, id: ids.bySource[at] })),
    id_field: ids.id_field,
    base,
    told_by,
    fields,
    omitted: [...ids.omitted, ...omitted, ...single.map((profile) => ({ profile, reason: 'has a single value' }))],
  })
  const sources = profiled.map(({ source, profiles }, at) => ({
    file: nameFile(files[at] ?? ''),
    records: source.rows,
    isWhole: source.isWhole,
    read_as: summarizeReading(source.reading),
    id_field: ids.bySource[at]?.column,
    columns: profiles,
  }))
  return { sources, id_field: ids.id_field, yaml }
}

type Sample = ReadSource & { readonly isWhole: boolean }

async function readSamples(
  files: readonly string[],
  { skipsBadRows = false, onRemark, ...format }: Omit<RecordReading, 'makesIds'>,
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const file of files) {
    const sample = await readSample(file, format)
    refuseOtherSeparator(file, sample.names)
    remarkReading(sample, onRemark)
    handleBadRows([sample], skipsBadRows, onRemark)
    if (sample.rows === 0) throw new OfflineCommandError(1, `${nameFile(file)} contains no records`)
    samples.push(sample)
  }
  return samples
}

/** Lists the columns of lenses that are not in every kind of data, with their fields; the first lens counts. */
function listKnownColumns(lenses: readonly Lens[]): [string, LensField][] {
  const all = lenses.flatMap(({ fields }) =>
    fields.flatMap((field) =>
      field.join ? [] : (field.columns ?? [field.name]).map((column) => [column, field] as const),
    ),
  )
  const known = lenses.length === 1 ? all : all.filter(([column]) => !genericColumns.has(column))
  return [...new Map(known.toReversed().map(([column, field]) => [column, field]))]
}

/** Columns whose values differ by the kind of data. */
const genericColumns: ReadonlySet<string> = new Set(['name', 'description', 'details', 'model', 'address'])
const min_base_columns = 2
/** Share of the columns that belong to a shipped lens, above which the data is of its kind. */
const min_base_share = 0.5

/** Finds the shipped lens that knows most of the columns of every source, with all that it requires. */
function findBaseLens(shipped: readonly Lens[], samples: readonly Sample[]): Lens | undefined {
  const rated = shipped.map((lens) => ({ lens, count: Math.min(...samples.map(({ names }) => rateLens(lens, names))) }))
  const best = rated.reduce((highest, each) => (each.count > highest.count ? each : highest), {
    lens: shipped[0],
    count: 0,
  })
  return best.count > 0 ? best.lens : undefined
}

/** Counts the columns that the lens knows; 0 if they are too few, or one that it requires is missing. */
function rateLens({ fields, id_field }: Lens, names: readonly string[]): number {
  const columnsOf = ({ name, columns, join }: LensField) => join ?? columns ?? [name]
  if (fields.some((field) => !field.optional && !columnsOf(field).some((column) => names.includes(column)))) return 0
  const known = new Set(fields.flatMap((field) => (field.join ? [] : columnsOf(field))))
  const others = names.filter((name) => name !== id_field)
  const count = others.filter((name) => known.has(name)).length
  return count < min_base_columns || count < min_base_share * others.length ? 0 : count
}

function deriveLensName(file: string): string {
  const name = nameSource(file)
  const slug = basename(name, extname(name))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return slug === '' ? 'my-lens' : slug.slice(0, 64)
}

/** The good records of the first blocks. */
async function readSample(file: string, options: FileInputOptions): Promise<Sample> {
  const read = async (openFile: DataFile): Promise<Sample> => {
    const { format, remarks } = await detectFormat(openFile, file, options, () => undefined)
    let read_bytes = 0
    const onProgress = (done: number) => {
      read_bytes = done
    }
    const bad = new BadRowCollector()
    const onReject = ({ reason, place }: RejectedRecord) => bad.add({ place: place.line, reason })
    const first = { ...format, isWanted: () => true, restoresFormulas: true, onReject, onProgress }
    const blocks = await openRecordBlocks(openFile, first)
    let isWhole = true
    async function* takeSample(): DataBlocks {
      let rows = 0
      let isFirst = true
      for await (const block of blocks) {
        rows += block.rows
        isWhole = isFirst || (read_bytes < sample_bytes && rows * block.columns.length <= max_sample_values)
        if (!isWhole) return
        isFirst = false
        yield block
      }
    }
    const columns = await collectColumns(takeSample())
    const reading = toFileReading(format, remarks, columns.rows, bad, [])
    const badRows = {
      file: nameFile(file),
      unit: placeUnitOf(format.kind),
      count: bad.count,
      first: bad.first,
    } as const
    const origin = { file, reading: first, names: columns.names }
    return {
      name: nameSource(file),
      isWhole,
      ...columns,
      reading,
      bad: badRows,
      lacksIds: false,
      repeatsIds: false,
      origin,
      matched: [],
    }
  }
  return await withDataFile(file, read, options)
}
