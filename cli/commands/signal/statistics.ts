// Shows how often the signals of each source turned out to be something.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { instant, text } from '../../program/params.ts'
import { formatFields, formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

const toDay = (given: string | undefined) => given?.slice(0, 10)

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
    const api = await connectService(given, terminal)
    const input = {
      ...{ since: toDay(given.since), until: toDay(given.until) },
      ...{ signal_type: given.type, source_name: given.source },
    }
    const told = await api.call('intelligence.signal.statistics', input)
    const { since, until, items, total } = told as {
      since: string
      until: string
      items: OutputRow[]
      total: OutputRow
    }
    printResult(terminal, given.json, told, () =>
      [
        formatTable(terminal, items, statisticsColumns, `no signals were detected from ${since} to ${until}`),
        '',
        formatFields(terminal, {
          days: `${since} to ${until}`,
          disposed: total.disposed,
          precision: formatPrecision(total),
        }),
      ].join('\n'),
    )
    return 0
  },
})

const countColumn = (name: string) => ({ heading: name, cell: (row: OutputRow) => (row.counts as OutputRow)[name] })

const statisticsColumns = [
  { heading: 'source', cell: ({ source }: OutputRow) => Object.values(source as OutputRow).join(' ') },
  'signal_type',
  ...['open', 'resolved', 'dismissed', 'archived'].map(countColumn),
  { heading: 'precision', cell: formatPrecision },
]

/** A share with its interval, in percent. */
function formatPrecision({ precision, interval }: OutputRow): string | undefined {
  if (typeof precision !== 'number') return undefined
  const { low, high } = interval as { low: number; high: number }
  return `${formatPercent(precision)} (${formatPercent(low)} to ${formatPercent(high)})`
}

function formatPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
