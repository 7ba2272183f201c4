// Reports, once each, missing numbers and an epoch without its announcement, so that operators can request them.

import { linkAuditEvent } from '../../link/link-audit-event.ts'
import type { ScanContext } from '../scan-context.ts'

/** The gaps that were reported before. */
export type ReportedGaps = { epoch: number; missing: number; awaited: number }

export function noReportedGaps(): ReportedGaps {
  return { epoch: 0, missing: 0, awaited: 0 }
}

export async function reportGaps(
  { link, filedrop, destination, epoch, early }: ScanContext,
  reported: ReportedGaps,
): Promise<void> {
  const { floor, highest, arrived } = await filedrop.journal.progress(destination.channel, epoch)
  const missing = highest - floor - arrived
  if (missing > (reported.epoch === epoch ? reported.missing : 0)) {
    const gaps = await filedrop.journal.gaps(destination.channel, epoch, 16)
    filedrop.log.warn('filedrop.gap', { peer: link.peer, missing, gaps })
    await filedrop.record([
      linkAuditEvent(link, 'filedrop.gap.found', destination.channel, { epoch, missing, gaps }, filedrop),
    ])
  }
  Object.assign(reported, { epoch, missing })
  if (early.size === 0 || reported.awaited === epoch + 1) return
  reported.awaited = epoch + 1
  filedrop.log.warn('filedrop.epoch.awaited', { peer: link.peer, epoch: epoch + 1, waiting: early.size })
  const about = { epoch: epoch + 1, waiting: early.size }
  await filedrop.record([linkAuditEvent(link, 'filedrop.epoch.awaited', destination.channel, about, filedrop)])
}
