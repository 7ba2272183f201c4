// Reads the first message of an epoch before the other checks, and opens the epoch that it announces.
import { setImmediate as pause } from 'node:timers/promises'
import type { AuditEvent } from '../../../../../daemon/kernel/audit/audit-chain.ts'
import { sliceRunner } from '../../../../../daemon/kernel/role/run-in-slices.ts'
import { judgeAnnouncement } from '../../checks/announcement-check.ts'
import { contentCheck, digestCheck } from '../../checks/content-checks.ts'
import { type MessageExamination, requireEstablished } from '../../checks/message-examination.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import type { ReceiveContext, ScanContext } from '../scan-context.ts'
import type { MessageCandidate } from './message-candidate.ts'

/** Reads it, if this is one. Before the other checks, since the number can be judged only by what it says. */
export async function readAnnouncement(
  examination: MessageExamination,
  { trust, filedrop }: ReceiveContext,
): Promise<void> {
  const { kind, seq } = requireEstablished(examination, 'statement')
  if (kind !== 'keys' || seq !== 1) return
  const runSliced = sliceRunner({ monotonic: filedrop.clock.monotonic, pause })
  const broken = (await runSliced(digestCheck(examination))) ?? (await runSliced(contentCheck(examination)))
  const outcome = broken ? { fault: broken } : await judgeAnnouncement(examination, trust)
  if (outcome) examination.announcement = outcome
}

/** Durable before the message is taken in: what comes behind it must not wait for an epoch that is open. */
export async function openAnnouncedEpochs(
  batch: readonly MessageCandidate[],
  { filedrop, destination, link }: ScanContext,
): Promise<void> {
  for (const { examination, context, disposition } of batch) {
    const { announcement } = examination
    if (disposition || !announcement || 'fault' in announcement || announcement.verified.epoch <= context.epoch)
      continue
    const { epoch, reason, created } = announcement.verified
    const about = { before: context.epoch, created, epoch, reason }
    const event: AuditEvent = linkAuditEvent(link, 'filedrop.epoch.opened', destination.channel, about, filedrop, {
      trace: context.trace,
    })
    await filedrop.journal.advance(destination.channel, epoch, [event])
    filedrop.log.warn('filedrop.epoch.opened', { peer: link.peer, ...about })
  }
}
