// Reads records of a tenant's data file for an exchange: the columns that the lens reads, and no more records than were agreed.
import { refuse } from '../../kernel/errors.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { DataFault } from '../../roles/resolution/engine/records/csv.ts'
import { idLimit, isWantedBy, type Source } from '../../roles/resolution/engine/records/records.ts'
import type { NodeRecord } from '../../roles/resolution/fusion-run/node-data.ts'
import type { DataFiles } from '../../roles/resolution/parts.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { valuesOf } from '../profile.ts'
import { FileFault } from './data-bytes.ts'
import { DataFileFault, openDataFile } from './data-folder.ts'
import { kindOf, readable } from './read-records.ts'

const field_bytes = 1_048_576

export function dataFilesIn(resolved: Resolved): DataFiles {
  const { data_folder } = valuesOf(resolved, settings)
  return {
    async read(tenant_id, file, lens, most) {
      const read = kindOf(file)
      if (!read) return refuse('invalid', `a data file must be one of ${readable.join(', ')}`)
      try {
        const opened = openDataFile(data_folder, tenant_id, file)
        try {
          const limits = { field_bytes, rows: most, id: idLimit(lens) }
          return recordsIn({
            name: file,
            ...read({ opened, isWanted: isWantedBy(lens), limits, tell: () => undefined }),
          })
        } finally {
          opened.close()
        }
      } catch (error) {
        if (error instanceof DataFileFault) return refuse('invalid', error.message)
        if (error instanceof FileFault) return refuse('invalid', `the data file ${error.message}`)
        if (error instanceof DataFault) return refuse('invalid', `the data file, ${error.message}`)
        throw error
      }
    },
  }
}

function recordsIn({ rows, columns }: Source): NodeRecord[] {
  const decoder = new TextDecoder()
  const texts = columns.map(({ values }) =>
    Array.from({ length: values.size }, (_, at) => decoder.decode(values.bytesOf(at))),
  )
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, codes }, at) => [name, texts[at]?.[codes[row] ?? -1] ?? null])),
  )
}
