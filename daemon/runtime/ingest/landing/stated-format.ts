// The format of a file by what its task states, and by its name.
import type * as z from 'zod'
import { type DataFormat, type DataKind, inferDataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { readAs } from '../../../roles/ingest/operator/read-as.ts'

type StatedReading = z.output<typeof readAs> | undefined

/** A file without a known extension is CSV. */
export function formatOfFile(name: string, stated: StatedReading): DataFormat {
  return toDataFormat(stated, stated?.format ?? inferDataKind(name) ?? 'csv')
}

export function toDataFormat({ format: _, ...stated }: NonNullable<StatedReading> = {}, kind: DataKind): DataFormat {
  return { ...stated, kind }
}
