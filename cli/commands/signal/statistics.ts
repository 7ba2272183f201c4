// Shows how often the signals of each source turned out to be something.
import { command } from '../../command.ts'
import { fields, type Row, show, table } from '../../output.ts'
import { instant, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

const dayOf = (given: string | undefined) => given?.slice(0, 10)

export const definition = command({
  words: 'signal statistics',
  summary: 'count what became of signals by source and type, with the precision of each source',
  notes: [
    'PRECISION: resolved of those disposed (resolved, dismissed or archived); the interval is Wilson’s at 95 %.',
    'By the day of detection (UTC), both days included; of the last 90 days unless said, and of 366 at most.',
  ].join('\n'),
  options: {
    since: instant('DAY', 'first day of detection'),
    until: instant('DAY', 'last day of detection'),
    type: text('TYPE', 'only signals of this type'),
    source: text('NAME', 'only the source of this name'),
    ...serviceOptions,
  },
  example: 'platform signal statistics --since 2026-01-01',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const input = {
      ...{ since: dayOf(given.since), until: dayOf(given.until) },
      ...{ signal_type: given.type, source_name: given.source },
    }
    const told = await api.call('intelligence.signal.statistics', input)
    const { since, until, items, total } = told as { since: string; until: string; items: Row[]; total: Row }
    show(terminal, given.json, told, () =>
      [
        table(terminal, items, columns, `no signals were detected from ${since} to ${until}`),
        '',
        fields(terminal, { days: `${since} to ${until}`, disposed: total.disposed, precision: precisionOf(total) }),
      ].join('\n'),
    )
    return 0
  },
})

const countOf = (name: string) => ({ heading: name, cell: (row: Row) => (row.counts as Row)[name] })

const columns = [
  { heading: 'source', cell: ({ source }: Row) => Object.values(source as Row).join(' ') },
  'signal_type',
  ...['open', 'resolved', 'dismissed', 'archived'].map(countOf),
  { heading: 'precision', cell: precisionOf },
]

/** A share with its interval, in percent. */
function precisionOf({ precision, interval }: Row): string | undefined {
  if (typeof precision !== 'number') return undefined
  const { low, high } = interval as { low: number; high: number }
  return `${percent(precision)} (${percent(low)} to ${percent(high)})`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
