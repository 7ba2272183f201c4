// Stops the channels of a restored site: it no longer knows what it sent since the backup, so a person must act first.
import { randomBytes } from 'node:crypto'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import type { AuditEvent } from '../../kernel/audit/audit-chain.ts'
import type { JournalChannel } from '../../kernel/messaging/journal.ts'
import type { RoleDatabase } from './role-database.ts'

type JournalDatabase = Pick<RoleDatabase, 'sqlite' | 'audit'>

/** The part of the restore's audit record about one changed thing. */
export type RestoreEventFactory = (target: string, detail: AuditEvent['detail']) => AuditEvent

/** `subject`: the person who restores. `now` in epoch milliseconds. */
type RestoreOrigin = { readonly tenant_id: string; readonly subject: string; readonly now: number }

export function createRestoreEventFactory({ tenant_id, subject, now }: RestoreOrigin): RestoreEventFactory {
  return (target, detail) => ({
    at: new Date(now).toISOString(),
    action: 'site.store.restore',
    outcome: 'done',
    tenant_id,
    subject,
    target,
    trace_id: randomBytes(16).toString('hex'),
    detail,
  })
}

/** Channels that stay frozen until a person has examined them, regardless of the backup. */
export async function listFrozenIncoming({ sqlite, audit }: JournalDatabase): Promise<readonly JournalChannel[]> {
  const channels = await sqliteJournal(sqlite, audit).channels()
  return channels.filter(({ direction, state }) => direction === 'in' && state === 'frozen')
}

/**
 * Freezes every outgoing channel in the database of the site role, with its audit event, until its next epoch is
 * opened; and freezes again the incoming ones that were frozen when the backup replaced their data. What an incoming
 * channel lacks is unknown until its next inventory.
 */
export async function freezeRestoredChannels(
  { sqlite, audit }: JournalDatabase,
  frozen: readonly JournalChannel[],
  event: RestoreEventFactory,
): Promise<void> {
  const journal = sqliteJournal(sqlite, audit)
  for (const { channel, peer, direction, state } of await journal.channels()) {
    // The peer's numbers since the backup are unknown until its next inventory.
    if (direction === 'in') await journal.forgetInventory(channel)
    const frozenBefore = frozen.find((candidate) => candidate.channel === channel)
    const mustFreeze = direction === 'out' ? state !== 'enrolling' : frozenBefore !== undefined && state === 'open'
    if (!mustFreeze) continue
    const detail = frozenBefore?.detail ?? `restored from a backup: open a new epoch: platform filedrop epoch ${peer}`
    await journal.setState(channel, 'frozen', detail, [event(channel, {})])
  }
}
