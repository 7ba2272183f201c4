// Counts of the signals of a source by outcome.
import * as z from 'zod'
import { source } from '../signal/model.ts'

export const signalOutcome = z.enum(['open', 'resolved', 'dismissed', 'archived'])
export type SignalOutcome = z.infer<typeof signalOutcome>

const count = z.int().min(0)
const outcomeCounts = z.strictObject({ open: count, resolved: count, dismissed: count, archived: count })
export type OutcomeCounts = z.infer<typeof outcomeCounts>

const fraction = z.number().min(0).max(1)

const precisionFields = {
  counts: outcomeCounts,
  disposed: count.meta({ description: 'Resolved, dismissed or archived' }),
  precision: fraction
    .nullable()
    .meta({ description: 'Share of resolved among disposed signals; null if none are disposed' }),
  interval: z
    .strictObject({ low: fraction, high: fraction })
    .optional()
    .meta({ description: 'Wilson’s 95 % interval of the precision' }),
}
export const signalPrecision = z.strictObject(precisionFields).meta({ id: 'SignalPrecision' })
export type SignalPrecision = z.infer<typeof signalPrecision>

export const sourceStatistics = z
  .strictObject({ source: source.omit({ reference: true }), signal_type: z.string(), ...precisionFields })
  .meta({ id: 'SourceStatistics', description: 'Counts of the signals of one type from one source' })
export type SourceStatistics = z.infer<typeof sourceStatistics>
