// The newest tick of a scheduler that has the clock of the schedules: one document for all processes of the role.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { instant } from '../fields.ts'

const storedScheduleTick = z.strictObject({
  tenant_id: z.string(),
  /** The time that it is for, by the clock of the scheduler: another one is another tick. */
  at: instant,
  /** Epoch milliseconds at which the site noticed it. */
  noticed_ts: z.number(),
  /** What is due until then may be triggered. */
  until_ts: z.number(),
})
export type StoredScheduleTick = z.infer<typeof storedScheduleTick>

export const scheduleTicks = collection({ name: 'schedule-tick', schema: storedScheduleTick, indexes: [] })

export const newest_tick = 'newest'
