// The job that makes a backup: one step, which begins anew after a crash and replaces the remains of the one before.
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { endJob, recordProgress } from '../../../kernel/job/rules.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { backupsPart } from '../parts.ts'
import { settings } from '../settings.ts'
import { backups, type StoredBackup } from './model.ts'

const hour_ms = 3_600_000
/** Time for which the record of an ended backup is kept; its audit record and its folder have their own times. */
const keep_ms = 30 * 24 * hour_ms

export const backupJob = jobKind<StoredBackup>({
  name: 'backup',
  collection: backups,
  allow: 'backup:write',
  isSiteWork: () => true,
  limits: () => ({ at_once: 1, at_once_per_tenant: 1, step_ms: 12 * hour_ms }),
  waits: { first_ms: 60_000, longest_ms: hour_ms },
  step: makeBackup,
  fail: (backup, { failure, at, now_ms }) => endBackup(endJob(backup, 'failed', failure), at, now_ms),
  operations: {
    read: 'backup:read',
    cancel: (backup, { at, now_ms }) => endBackup(endJob(backup, 'cancelled'), at, now_ms),
  },
})

function endBackup(backup: StoredBackup, ended_at: string, now_ms: number): StoredBackup {
  return { ...backup, ended_at, expires_ts: now_ms + keep_ms }
}

async function makeBackup(call: JobCall, { id }: Doc<StoredBackup>): Promise<undefined> {
  const { backup_keep } = call.settings(settings)
  const report = async (done: number, total: number) => {
    await call.store(backups).update(id, ({ value }) => ({
      next: recordProgress(value, { done, total }, call.now()),
      answer: undefined,
    }))
  }
  const set = await call.part(backupsPart).run(backup_keep, { roles: call.roles, signal: call.signal, report })
  await call.store(backups).update(id, ({ value }) => ({
    next: endBackup({ ...endJob(value, 'completed'), set }, call.nowIso(), call.now()),
    answer: undefined,
    audit: [call.audited('site.backup.done', set, {})],
  }))
}
