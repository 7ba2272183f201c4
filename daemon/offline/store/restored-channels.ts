// A site that came back from a backup has forgotten what it sent since, and what it found out: no channel goes on before a person acts.
import { randomBytes } from 'node:crypto'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal.ts'
import type { AuditEvent } from '../../kernel/audit/audit-chain.ts'
import type { JournalChannel } from '../../kernel/messaging/journal.ts'
import type { RoleDatabase } from './role-database.ts'

type JournalDatabase = Pick<RoleDatabase, 'sqlite' | 'audit'>

/** What the restored chain says of the restore, about one thing that it changed. */
export type RestoreEventFactory = (target: string, detail: AuditEvent['detail']) => AuditEvent

export function createRestoreEventFactory(tenant_id: string, now: number): RestoreEventFactory {
  return (target, detail) => ({
    at: new Date(now).toISOString(),
    action: 'site.store.restore',
    outcome: 'done',
    tenant_id,
    subject: `cli:${invoker()}`,
    target,
    trace_id: randomBytes(16).toString('hex'),
    detail,
  })
}

/** Channels that stand until a person has looked, whatever a backup says of them. */
export async function listFrozenIncoming({ sqlite, audit }: JournalDatabase): Promise<readonly JournalChannel[]> {
  const channels = await sqliteJournal(sqlite, audit).channels()
  return channels.filter(({ direction, state }) => direction === 'in' && state === 'frozen')
}

/**
 * Freezes every outgoing channel in the database of the site role, with its audit event, until its next epoch is opened;
 * and those incoming ones again that had been frozen when the backup took their place.
 */
export async function freezeRestoredChannels(
  { sqlite, audit }: JournalDatabase,
  frozen: readonly JournalChannel[],
  event: RestoreEventFactory,
): Promise<void> {
  const journal = sqliteJournal(sqlite, audit)
  for (const { channel, peer, direction, state } of await journal.channels()) {
    const before = frozen.find((each) => each.channel === channel)
    const isHeld = direction === 'out' ? state !== 'enrolling' : before !== undefined && state === 'open'
    if (!isHeld) continue
    const detail = before?.detail ?? `restored from a backup: open a new epoch: platform filedrop epoch ${peer}`
    await journal.setState(channel, 'frozen', detail, [event(channel, {})])
  }
}
