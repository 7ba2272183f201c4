// A site that came back from a backup has forgotten what it sent since: none of its channels may send before a person acts.
import { randomBytes } from 'node:crypto'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal.ts'
import type { AuditEvent } from '../../kernel/audit.ts'
import type { RoleDatabase } from './role-database.ts'

/** What the restored chain says of the restore, about one thing that it changed. */
export type RestoreEvent = (target: string, detail: AuditEvent['detail']) => AuditEvent

export function restoreEvents(tenant_id: string, now: number): RestoreEvent {
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

/** Freezes every outgoing channel in the database of the site role, with its audit event, until its next epoch is opened. */
export async function holdOutgoing(
  { sqlite, audit }: Pick<RoleDatabase, 'sqlite' | 'audit'>,
  event: RestoreEvent,
): Promise<void> {
  const journal = sqliteJournal(sqlite, audit)
  for (const { channel, peer, direction, state } of await journal.channels()) {
    if (direction !== 'out' || state === 'enrolling') continue
    const detail = `restored from a backup: open a new epoch: platform filedrop epoch ${peer}`
    await journal.setState(channel, 'frozen', detail, [event(channel, {})])
  }
}
