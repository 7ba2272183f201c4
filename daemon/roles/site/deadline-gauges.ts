// Gauges of what an operator must renew in time: backups, and accreditations of channels.
import type { Call } from '../../kernel/operation/call.ts'
import { gauge } from '../../kernel/telemetry/metrics.ts'
import { backups } from './backup/model.ts'
import { settings } from './settings.ts'

const backupEnd = gauge(
  'site_backup_end_seconds',
  'End of the last complete backup of the schedule, in seconds since 1970; 0 before the first',
  {},
)
const accreditationEnd = gauge(
  'site_accreditation_end_seconds',
  'End of the last day of the accreditation of a channel, in seconds since 1970',
  { peer: 'names' },
)

export const deadlineGauges = [backupEnd, accreditationEnd]

const day_s = 86_400
/** Newest first; a backup of a day that needed as many attempts would be the failure that the alert is about. */
const max_backups = 100

export async function setDeadlineGauges(call: Call): Promise<void> {
  const { accreditations, backup_cron } = call.settings(settings)
  for (const [peer, { valid_until }] of Object.entries(accreditations))
    call.set(accreditationEnd, { peer }, Date.parse(valid_until) / 1_000 + day_s)
  if (backup_cron === undefined) return
  const order = { field: 'created_at', direction: 'desc' } as const
  const { docs } = await call.store(backups).list({ order, limit: max_backups })
  const last = docs.find(({ value }) => value.set !== undefined)
  call.set(backupEnd, {}, last?.value.ended_at === undefined ? 0 : Date.parse(last.value.ended_at) / 1_000)
}
