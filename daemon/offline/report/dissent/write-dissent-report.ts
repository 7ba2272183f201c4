// Writes the report of dissents, from what the service returned.
import * as z from 'zod'
import { machineDissent } from '../../../roles/consensus/session/dissent/model.ts'
import { session } from '../../../roles/consensus/session/model.ts'
import { type ReportFile, writeReportFile } from '../report-file.ts'
import { renderDissentReport } from './dissent-page.ts'

const dissentAnswers = z.strictObject({
  at: z.iso.datetime(),
  source: z.string(),
  dissents: z.array(machineDissent),
  total: z.int().min(0),
  session: session.pick({ history: true, state: true }).optional(),
})

export type WrittenDissentReport = ReportFile & { readonly dissents: number; readonly open: number }

/** `answers`: those of the service, as `DissentReport`. Throws `OfflineCommandError`. */
export function writeDissentReport(out: string, answers: object): WrittenDissentReport {
  const report = dissentAnswers.parse(answers)
  const open = report.dissents.filter(({ status }) => status === 'open').length
  return { ...writeReportFile(out, renderDissentReport(report)), dissents: report.dissents.length, open }
}
