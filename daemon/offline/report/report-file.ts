// The file of a report: where it is written by default, and what is printed of it.
import { requireWritable } from '../resolve/new-files.ts'
import { replaceReport, requireReplaceable } from './replace-report.ts'

export type ReportFile = { readonly file: string; readonly bytes: number }

/** Throws `OfflineCommandError` before anything is read: 3 for a file that is not a report, 1 for one that cannot be written. */
export function requireReportFile(file: string): void {
  requireReplaceable(file)
  requireWritable(file)
}

/** Writes the page in the place of an earlier report. Throws `OfflineCommandError`. */
export function writeReportFile(file: string, page: string): ReportFile {
  replaceReport(file, page)
  return { file, bytes: Buffer.byteLength(page) }
}
