// The memory of a link's intake over all scans, and the context that each batch of a scan works with.
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { MessageDestination, SenderTrust } from '../checks/message-checks.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import { linkAuditEvent } from '../link/link-audit-event.ts'
import { measureQuarantine } from '../quarantine/quarantine-files.ts'
import type { ReportedGaps } from './gaps/report-gaps.ts'
import type { SilenceAlarm } from './gaps/silence-alarm.ts'
import type { IncompleteMessages } from './scan/incomplete-messages.ts'
import type { ScanContext } from './scan-context.ts'
import type { DecisionQueue } from './waiting/decision-queue.ts'

export type IntakeState = Pick<ScanContext, 'held' | 'early' | 'deferred' | 'waiting' | 'roles'> & {
  waivers: ScanContext['waivers']
  isStopped: () => boolean
  /** Whether something failed in this scan. */
  hasFailed: boolean
  quarantine_size: { items: number; bytes: number } | undefined
  readonly reported_gaps: ReportedGaps
  readonly silence: SilenceAlarm
  readonly incomplete: IncompleteMessages
  readonly decisions: DecisionQueue
  /** When the first of it began to wait, in epoch milliseconds; absent when nothing does. */
  waitingSince: number | undefined
}

export function quarantineSize(link: FiledropLink, state: IntakeState): { items: number; bytes: number } {
  state.quarantine_size ??= measureQuarantine(link.folders.quarantine)
  return state.quarantine_size
}

export function addToSize(link: FiledropLink, state: IntakeState, bytes: number): void {
  const stored = quarantineSize(link, state)
  state.quarantine_size = { items: stored.items + 1, bytes: stored.bytes + bytes }
}

export function buildScanContext(
  link: FiledropLink,
  filedrop: FiledropContext,
  state: IntakeState,
  peer: Peer,
  epoch: number,
): ScanContext {
  const { journal, signatures, label_policy, site, tenant_id, releasable_names, clock, settings } = filedrop
  const { keys: pinned, threshold, root_threshold = 1 } = peer
  const trust: SenderTrust = { signatures, pinned, threshold, root_threshold, formats: filedrop.formats }
  const destination: MessageDestination = {
    site,
    tenant_id,
    releasable_names,
    peer,
    channel: link.channel.in,
    label_policy,
    now: clock.now(),
    skew_ms: settings.skew_ms,
    trusted_clock: settings.trusted_clock,
  }
  return {
    link,
    filedrop,
    trust,
    destination,
    epoch,
    held: state.held,
    early: state.early,
    deferred: state.deferred,
    waiting: state.waiting,
    roles: state.roles,
    waivers: state.waivers,
    isStopped: state.isStopped,
    noteActivity: state.silence.noteActivity,
    noteFailure() {
      state.hasFailed = true
    },
    async freeze(detail, { statement, digest }, trace) {
      const about = { epoch: statement?.epoch, seq: statement?.seq, digest, detail }
      const event = linkAuditEvent(link, 'filedrop.channel.equivocation', link.channel.in, about, filedrop, {
        outcome: 'refused',
        trace,
      })
      const numbers = statement ? [statement] : []
      const outcome = await journal.dispute(link.channel.in, detail, numbers, [event])
      // A further message under a number that was reported before: operators have not seen this message.
      if (outcome === 'known') await journal.setState(link.channel.in, 'frozen', detail, [event])
    },
    noteQuarantined: (bytes) => addToSize(link, state, bytes),
  }
}
