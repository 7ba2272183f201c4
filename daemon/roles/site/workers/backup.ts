// Requests a backup of the databases at the times that the profile names.
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { CronSetting, Worker } from '../../../kernel/role/role.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { backups } from '../backup/model.ts'
import { settings } from '../settings.ts'

export const backup: Worker = {
  name: 'backup',
  when: { cron: readBackupSchedule },
  run,
}

/** Undefined without scheduled backups. */
function readBackupSchedule(resolved: ResolvedSettings): CronSetting | undefined {
  const { backup_cron, backup_time_zone } = getSettings(resolved, settings)
  return backup_cron === undefined ? undefined : { expression: backup_cron, zone: backup_time_zone }
}

/** A backup that is still to come covers the new time as well. */
async function run(call: Call): Promise<void> {
  const open = await call.store(backups).list({ filter: { job_due_ts: { exists: true } }, limit: 1, fresh: true })
  if (open.docs.length > 0) return
  const created = await call.store(backups).create(call.newId('backup'), {
    tenant_id: call.site.tenant_id,
    created_by: call.caller.subject,
    created_at: call.nowIso(),
    ...newJob(undefined, call.now()),
  })
  if (created !== 'exists') announceJob(call, backups, created)
}
