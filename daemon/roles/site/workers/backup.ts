// Backs up the databases at the times that the profile names.
import type { Call } from '../../../kernel/operation/call.ts'
import type { CronSetting, Worker } from '../../../kernel/role/role.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { backupsPart } from '../parts.ts'
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

async function run(call: Call): Promise<void> {
  const { backup_keep } = call.settings(settings)
  const name = await call.part(backupsPart).run(backup_keep, call.roles)
  await call.record([call.audited('site.backup.done', name, {})])
}
