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
  checkSiteWork: () => undefined,
  limits: () => ({ at_once: 1, at_once_per_tenant: 1 }),
  stepLimit_ms: () => 12 * hour_ms,
  waits: { first_ms: 60_000, longest_ms: hour_ms },
  step: makeBackup,
  fail: (backup, { failure, at, now_ms }) => endJob(backup, 'failed', endFields(at, now_ms), failure),
  operations: {
    read: 'backup:read',
    cancel: (backup, { at, now_ms }) => endJob(backup, 'cancelled', endFields(at, now_ms)),
  },
})

function endFields(ended_at: string, now_ms: number) {
  return { ended_at, expires_ts: now_ms + keep_ms }
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
    next: endJob(value, 'completed', { ...endFields(call.nowIso(), call.now()), set }),
    answer: undefined,
    audit: [call.audited('site.backup.done', set, {})],
  }))
}
