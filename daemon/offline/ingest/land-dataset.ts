// Lands data files as a dataset, without a service.
import * as z from 'zod'
import { openDataFile } from '../../../adapters/platform/data-file/data-file.ts'
import { inferDataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { type DataSchema, dataColumn } from '../../kernel/data/data-schema.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { type LandingProgress, type LandingResult, landFiles } from '../../runtime/ingest/landing/land-files.ts'
import { LandingError } from '../../runtime/ingest/landing/landing-error.ts'
import type { LandingInput } from '../../runtime/ingest/landing/landing-input.ts'
import type { RejectLimit } from '../../runtime/ingest/landing/reject-limit.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'
import type { FileFormatOptions } from '../resolve/data-file.ts'
import { nameFile, nameSource, standard_input } from '../resolve/reading/source-names.ts'
import { openStandardInput, type StandardInput } from '../resolve/reading/standard-input.ts'

export type LandDatasetOptions = {
  readonly files: readonly string[]
  readonly out: string
  /** File with the types of columns. */
  readonly columnsFile?: string | undefined
  readonly limit: RejectLimit
  readonly format: FileFormatOptions
  readonly standardInput: StandardInput
  readonly signal?: AbortSignal
}

const statedColumns = z
  .array(dataColumn.strict())
  .min(1)
  .max(4_096)
  .refine((columns) => new Set(columns.map(({ name }) => name)).size === columns.length, {
    message: 'a column is named twice',
  })

/** Throws `OfflineCommandError`: 1 for unusable data and a folder that cannot be written, 2 for unusable columns, 3 for a folder that exists. */
export async function landDataset(
  { files, out, columnsFile, limit, format, standardInput, signal }: LandDatasetOptions,
  onProgress: (progress: LandingProgress) => void,
): Promise<LandingResult> {
  const columns = columnsFile === undefined ? [] : readColumns(columnsFile)
  const onInput = () => onProgress({ phase: 'digest', done: 0, total: 0 })
  const inputs = files.map((file): LandingInput => {
    return {
      name: nameSource(file),
      label: nameFile(file),
      format: { ...format, kind: format.kind ?? inferDataKind(file) ?? 'csv' },
      open: () =>
        file === standard_input ? openStandardInput(standardInput, onInput) : runAsInvoker(() => openDataFile(file)),
    }
  })
  try {
    return await landFiles({ inputs, out, columns, limit, runAs: runAsInvoker, signal }, onProgress)
  } catch (error) {
    if (!(error instanceof LandingError)) throw error
    throw new OfflineCommandError(error.isTaken ? 3 : 1, error.message, error.remedy, error.details)
  }
}

function readColumns(file: string): DataSchema {
  const parsed = statedColumns.safeParse(parseJson(readInputFile(file)))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new OfflineCommandError(
    2,
    `${file} does not state columns: ${issue?.path.join('.') || 'the document'}: ${issue?.message}`,
    'write a list such as [{"name": "id", "type": "text"}, {"name": "paid_on", "type": "date"}]',
  )
}
