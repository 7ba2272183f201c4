// Writes the report of an audit log: of the databases of a site, or of an export.

import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { forEachAuditRecord, listAuditedRoles, verifyAuditChains } from '../../audit/audit-chains.ts'
import { verifyAuditExport } from '../../audit/audit-export-verification.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'
import { type ReportFile, writeReportFile } from '../report-file.ts'
import { AuditCounter } from './audit-figures.ts'
import { type AuditReport, renderAuditReport } from './audit-page.ts'

export type AuditSpan = { readonly since?: string | undefined; readonly until?: string | undefined }

export type WrittenAuditReport = ReportFile & {
  readonly whole: boolean
  readonly records: number
  readonly refused: number
}

/** Of the databases of the site, whether or not it runs. Throws `OfflineCommandError`. */
export async function writeSiteAuditReport(
  out: string,
  folder: SiteFolder,
  env: EnvironmentVariables,
  { since, until }: AuditSpan,
  progress: (text: string) => void,
): Promise<WrittenAuditReport> {
  const chains = await verifyAuditChains(folder, env, progress)
  const counter = new AuditCounter()
  const span = { ...(since ? { since } : {}), ...(until ? { until } : {}) }
  for (const role of listAuditedRoles(folder)) {
    progress(`${role.name}: counting`)
    await forEachAuditRecord(folder, role, span, (record) => counter.take(record))
  }
  const { name: source } = readSiteSettings(folder, env).platform
  return write(out, { source, ...span, chains, faults: [], figures: counter.figures() })
}

/** Of an export. Throws `OfflineCommandError`. */
export async function writeExportAuditReport(
  out: string,
  file: string,
  findKeys: Parameters<typeof verifyAuditExport>[1],
): Promise<WrittenAuditReport> {
  const counter = new AuditCounter()
  const verdict = await verifyAuditExport(file, findKeys, (record) => counter.take(record))
  const { chains, faults, export: statement } = verdict
  return write(out, { source: statement?.site ?? file, chains, faults, figures: counter.figures() })
}

function write(out: string, report: Omit<AuditReport, 'at'>): WrittenAuditReport {
  const { chains, faults, figures } = report
  const page = renderAuditReport({ at: new Date().toISOString(), ...report })
  return {
    ...writeReportFile(out, page),
    whole: faults.length === 0 && chains.every((chain) => chain.faults.length === 0),
    ...{ records: figures.records, refused: figures.outcomes.refused },
  }
}
