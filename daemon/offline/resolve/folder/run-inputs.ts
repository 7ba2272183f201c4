// The files that a run has read, by path and digest, as a file of its folder: so that they can be read again, unchanged.
import { resolve } from 'node:path'
import * as z from 'zod'
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import type { DataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { textEncodings } from '../../../kernel/data/utf8-source.ts'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { type FileInput, withDataFile } from '../data-file.ts'
import { readLensText } from '../lens/lens-file.ts'
import type { RecordReading } from '../lens-records.ts'
import { nameSource, standard_input } from '../reading/source-names.ts'

export const run_inputs_name = 'inputs.json'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const path = z.string().min(1).max(4_096)

/** The way of reading without its listener and its input: all of it is recorded, since the records could not be read again otherwise. */
type StoredReading = Required<Omit<RecordReading, 'onRemark' | 'idColumns' | keyof FileInput>>

const max_name_characters = 65_536
const columnName = z.string().max(max_name_characters)
const max_named_columns = 10_000

const readingShape = {
  kind: z
    .enum([
      'csv',
      'tsv',
      'jsonl',
      'parquet',
      'xls',
      'xlsx',
      'json',
      'geojson',
      'xml',
      'avro',
      'gpkg',
      'shapefile',
      'image',
      'tiles',
      'pdf',
      'pdf-tables',
      'dataset',
    ] satisfies DataKind[])
    .optional(),
  delimiter: z.string().max(8).optional(),
  encoding: z.enum(textEncodings).optional(),
  sheet: z.string().max(255).optional(),
  pointer: z.string().max(4_096).optional(),
  makesIds: z.boolean().optional(),
  namedColumns: z.array(columnName).max(max_named_columns).optional(),
  skipsBadRows: z.boolean().optional(),
} satisfies Record<keyof StoredReading, z.ZodType>

export const runInputs = z.strictObject({
  format: z.literal(1),
  /** The lens as it was named: its content is in the model. */
  lens: z.strictObject({ name: path, sha256: digest }).optional(),
  data: z
    .array(
      z.strictObject({ source: path, path, bytes: z.int().min(0), sha256: digest, id_field: columnName.optional() }),
    )
    .min(1)
    .max(10_000),
  reading: z.strictObject(readingShape),
})
export type RunInputs = z.infer<typeof runInputs>
export type InputFile = RunInputs['data'][number]

/** Describes the files before they are read: a change in between is then noticed later. Throws `OfflineCommandError` (1). */
export async function describeInputs(
  files: readonly string[],
  { onRemark: _onRemark, namedColumns = [], idColumns, standardInput, versions, sources, ...reading }: RecordReading,
  lens: string | undefined,
  onProgress: EngineProgressListener,
): Promise<RunInputs> {
  const data: InputFile[] = []
  for (const file of files) {
    const { bytes, sha256: digested } = await digestDataFile(file, onProgress, { standardInput, versions })
    const path = file === standard_input ? file : resolve(file)
    const id_field = idColumns?.get(file)
    data.push({
      ...{ source: nameSource(file, sources), path, bytes, sha256: digested },
      ...(id_field !== undefined && { id_field }),
    })
  }
  return {
    format: 1,
    ...(lens !== undefined && { lens: { name: lens, sha256: sha256(readLensText(lens)) } }),
    data,
    reading: { ...reading, ...(namedColumns.length > 0 && { namedColumns: [...namedColumns] }) },
  }
}

const piece_bytes = 1 << 22

/** Digests a file of any size piece by piece. Throws `OfflineCommandError` (1). */
export async function digestDataFile(
  file: string,
  onProgress: EngineProgressListener,
  input: FileInput = {},
): Promise<{ bytes: number; sha256: string }> {
  const digestAll = (openFile: DataFile) => {
    const digested = runningDigest()
    for (let at = 0; at < openFile.size; at += piece_bytes) {
      onProgress({ phase: 'read', done: at, total: openFile.size })
      digested.add(new Uint8Array(openFile.read(at, Math.min(openFile.size, at + piece_bytes))))
    }
    return { bytes: openFile.size, sha256: digested.hex() }
  }
  return await withDataFile(file, digestAll, input, () => onProgress({ phase: 'read', done: 0, total: 0 }))
}
