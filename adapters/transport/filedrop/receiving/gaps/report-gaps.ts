// Tells, once each, that numbers are missing and that an epoch waits for its announcement: people can ask for them again.

import { linkAuditEvent } from '../../link/link-audit-event.ts'
import type { ScanContext } from '../scan-context.ts'

/** What was told already. */
export type ReportedGaps = { epoch: number; missing: number; awaited: number }

export function noReportedGaps(): ReportedGaps {
  return { epoch: 0, missing: 0, awaited: 0 }
}

export async function reportGaps(
  { link, filedrop, destination, epoch, early }: ScanContext,
  told: ReportedGaps,
): Promise<void> {
  const { floor, highest, arrived } = await filedrop.journal.progress(destination.channel, epoch)
  const missing = highest - floor - arrived
  if (missing > (told.epoch === epoch ? told.missing : 0)) {
    const gaps = await filedrop.journal.gaps(destination.channel, epoch, 16)
    filedrop.log.warn('filedrop.gap', { peer: link.peer, missing, gaps })
    await filedrop.record([
      linkAuditEvent(link, 'filedrop.gap.found', destination.channel, { epoch, missing, gaps }, filedrop),
    ])
  }
  Object.assign(told, { epoch, missing })
  if (early.size === 0 || told.awaited === epoch + 1) return
  told.awaited = epoch + 1
  filedrop.log.warn('filedrop.epoch.awaited', { peer: link.peer, epoch: epoch + 1, waiting: early.size })
  const about = { epoch: epoch + 1, waiting: early.size }
  await filedrop.record([linkAuditEvent(link, 'filedrop.epoch.awaited', destination.channel, about, filedrop)])
}
