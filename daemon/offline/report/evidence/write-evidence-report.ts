// Writes the report of an evidence block.
import {
  type EvidenceVerdict,
  type KeySource,
  parseEvidenceBlock,
  type TrustedKeys,
  verifyEvidence,
} from '../../evidence/evidence-file.ts'
import { type ReportFile, requireReportFile, writeReportFile } from '../report-file.ts'
import { renderEvidenceReport } from './evidence-page.ts'

export type EvidenceReportRequest = {
  /** Text of the evidence block. */
  readonly text: string
  readonly trusted: readonly TrustedKeys[]
  readonly source: KeySource
  /** File of the page. */
  readonly out: string
}

export type WrittenEvidenceReport = ReportFile & Pick<EvidenceVerdict, 'verdict' | 'faults' | 'block_id'>

/** Throws `OfflineCommandError`: 5 for a text that is not a block. A block that does not hold has a report, too. */
export async function writeEvidenceReport({
  text,
  trusted,
  source,
  out,
}: EvidenceReportRequest): Promise<WrittenEvidenceReport> {
  requireReportFile(out)
  const verdict = await verifyEvidence(text, trusted, source)
  const page = renderEvidenceReport({ block: parseEvidenceBlock(text), verdict })
  return { ...writeReportFile(out, page), verdict: verdict.verdict, faults: verdict.faults, block_id: verdict.block_id }
}
