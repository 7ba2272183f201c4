// What became of the signals of a source, in numbers.
import * as z from 'zod'
import { source } from '../signal/model.ts'

export const outcome = z.enum(['open', 'resolved', 'dismissed', 'archived'])
export type Outcome = z.infer<typeof outcome>

const count = z.int().min(0)
const counts = z.strictObject({ open: count, resolved: count, dismissed: count, archived: count })
export type Counts = z.infer<typeof counts>

const share = z.number().min(0).max(1)

const judgement = {
  counts,
  disposed: count.meta({ description: 'Resolved, dismissed or archived' }),
  precision: share.nullable().meta({ description: 'Resolved of those disposed; null where there are none' }),
  interval: z
    .strictObject({ low: share, high: share })
    .optional()
    .meta({ description: 'Wilson’s 95 % interval of the precision' }),
}
export const judged = z.strictObject(judgement).meta({ id: 'SignalPrecision' })
export type Judged = z.infer<typeof judged>

export const sourceStatistics = z
  .strictObject({ source: source.omit({ reference: true }), signal_type: z.string(), ...judgement })
  .meta({ id: 'SourceStatistics', description: 'Of the signals of one type from one source' })
export type SourceStatistics = z.infer<typeof sourceStatistics>
