// Describes the fault of a data file to the person who named the file.
import { DataFault, not_utf8 } from '../../../daemon/kernel/data/data-fault.ts'
import { DataFileError } from './data-file.ts'
import { TenantDataFileError } from './tenant-data-file.ts'

/** Describes a fault of the file, to continue a sentence after its name; undefined for other errors. */
export function describeDataFault(
  error: unknown,
): { readonly text: string; readonly remedy?: string | undefined } | undefined {
  if (error instanceof DataFault) {
    const text = `${error.place ? ',' : ':'} ${error.message}`
    const remedy = 'write all of it as UTF-8; of ISO 8859-1: `iconv -f ISO-8859-1 -t UTF-8`'
    return { text, remedy: error.reason === not_utf8 ? remedy : undefined }
  }
  if (error instanceof TenantDataFileError) return { text: `: ${error.message}` }
  if (error instanceof DataFileError) return { text: ` ${error.message}`, remedy: error.remedy }
  return undefined
}
