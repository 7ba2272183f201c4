// A tick of the scheduler DAG: the file by which a worker of Airflow lets the site evaluate its schedules. It holds a time, and nothing else.
import * as z from 'zod'
import { siteName } from '../../kernel/messaging/statement.ts'

export const scheduleTick = z.strictObject({
  format: z.literal(1),
  /** Several sites may share a folder. */
  site: siteName,
  /** The time that the tick is for, by the clock of Airflow. */
  at: z.iso.datetime({ offset: true }).max(64),
})
export type ScheduleTick = z.infer<typeof scheduleTick>

export const max_tick_bytes = 1_024

/** In the folder that workers share. */
export const ticks_folder = 'ticks'

export function tickFileName(site: string): string {
  return `${siteName.parse(site)}.json`
}
