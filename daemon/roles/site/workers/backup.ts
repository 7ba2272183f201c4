// Backs up the databases at the times that the profile names.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { backupsPart } from '../parts.ts'
import { settings } from '../settings.ts'

export const backup: Worker = {
  name: 'backup',
  when: { cron: (resolved) => resolved.values.get('site')?.backup_cron as string | undefined },
  run,
}

async function run(call: Call): Promise<void> {
  const { backup_keep } = call.settings(settings)
  const made = await call.part(backupsPart).run(backup_keep, call.roles)
  await call.record([call.audited('site.backup.done', made, {})])
}
