// How often the signals of each source turned out to be something: its precision, over a span of days.
import * as z from 'zod'
import { refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { signals } from '../signal/model.ts'
import { judged, sourceStatistics } from './model.ts'
import { statisticsOf, tallySpan, totalOf } from './rules.ts'

const day_ms = 86_400_000
const usual_days = 90
/** Each signal of the span is counted where it lies in an index, and nothing else is read: the cost grows with the span. */
const most_days = 366

const [path = '', ...also] = ownedPaths('signal', '/statistics')
const day = z.iso.date()

export const statistics = operation({
  summary: 'Count what became of signals by source and type, with the precision of each: resolved of those disposed',
  method: 'GET',
  path,
  also,
  tool: 'signal_statistics',
  input: z.strictObject({
    since: day.optional().meta({ description: `First day of detection (UTC); ${usual_days} days unless said` }),
    until: day.optional().meta({ description: 'Last day of detection (UTC), included; today unless said' }),
    signal_type: z.string().min(1).max(128).optional(),
    source_name: z.string().min(1).max(256).optional(),
  }),
  output: z
    .strictObject({ since: day, until: day, items: z.array(sourceStatistics), total: judged })
    .meta({ id: 'SignalStatistics' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { signal_type, source_name, ...given }) {
    const until = given.until ?? dayOf(call.now())
    const since = given.since ?? dayOf(Date.parse(until) - (usual_days - 1) * day_ms)
    const days = (Date.parse(until) - Date.parse(since)) / day_ms + 1
    if (!(days >= 1 && days <= most_days))
      return refuse('invalid', `a span has 1 to ${most_days} days`, [{ path: 'since', message: `spans ${days} days` }])
    const counted = await call.store(signals).countBy('tally', { tally: tallySpan(since, until) })
    const all = statisticsOf(counted as ReadonlyMap<string, number>)
    const items = all.filter(
      (line) =>
        (signal_type === undefined || line.signal_type === signal_type) &&
        (source_name === undefined || line.source.name === source_name),
    )
    return { since, until, items, total: totalOf(items) }
  },
})

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
