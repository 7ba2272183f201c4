// Writes the report of a site, from what its roles returned and what the doctor found.
import { type ReportFile, writeReportFile } from '../report-file.ts'
import { renderSiteReport } from './site-page.ts'
import { siteReport } from './site-report.ts'

export type WrittenSiteReport = ReportFile & {
  readonly roles: number
  readonly channels: number
  readonly findings: number
}

/** `answers`: as `SiteReport`. Throws `OfflineCommandError`. */
export function writeSiteReport(out: string, answers: object): WrittenSiteReport {
  const report = siteReport.parse(answers)
  const { roles, channels = [], findings = [] } = report
  const counts = { roles: roles.length, channels: channels.length, findings: findings.length }
  return { ...writeReportFile(out, renderSiteReport(report)), ...counts }
}
