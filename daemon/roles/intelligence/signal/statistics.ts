// Counts signals by source, type and outcome over a span of days, with the precision of each source.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPaths } from '../object-paths.ts'
import { signalPrecision, sourceStatistics } from '../statistics/model.ts'
import { computeStatistics, computeTotal, tallyKeyRange } from '../statistics/rules.ts'
import { signals } from './model.ts'

const day_ms = 86_400_000
const default_days = 90
/** Counts from an index alone, without reading documents: the cost grows with the span. */
const max_days = 366

const day = z.iso.date()

export const statistics = operation({
  summary:
    'Count signals by source, type and outcome, with the precision of each: the share of resolved among disposed ones',
  method: 'GET',
  ...objectPaths('signal', '/statistics'),
  tool: 'signal_statistics',
  input: z.strictObject({
    since: day.optional().meta({ description: `First day of detection (UTC); default: ${default_days} days` }),
    until: day.optional().meta({ description: 'Last day of detection (UTC), included; default: today' }),
    signal_type: z.string().min(1).max(128).optional(),
    source_name: z.string().min(1).max(256).optional(),
  }),
  output: z
    .strictObject({ since: day, until: day, items: z.array(sourceStatistics), total: signalPrecision })
    .meta({ id: 'SignalStatistics' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { signal_type, source_name, ...span }) {
    const until = span.until ?? formatDay(call.now())
    const since = span.since ?? formatDay(Date.parse(until) - (default_days - 1) * day_ms)
    const days = (Date.parse(until) - Date.parse(since)) / day_ms + 1
    if (!(days >= 1 && days <= max_days))
      return refuse('invalid', `since to until spans ${days} days: give 1 to ${max_days}`, [
        { path: 'since', message: `spans ${days} days` },
      ])
    const counted = await call.store(signals).countBy('tally', { tally: tallyKeyRange(since, until) })
    const all = computeStatistics(counted as ReadonlyMap<string, number>)
    const items = all.filter(
      (line) =>
        (signal_type === undefined || line.signal_type === signal_type) &&
        (source_name === undefined || line.source.name === source_name),
    )
    return { since, until, items, total: computeTotal(items) }
  },
})

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
