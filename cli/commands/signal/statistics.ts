// Counts signals by source, type and outcome, with the precision of each source.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { instant, text } from '../../program/params.ts'
import { formatFields, formatTable, line_break, type OutputRow, printResult } from '../../terminal/output.ts'

const toDay = (time: string | undefined) => time?.slice(0, 10)

export const definition = command({
  words: 'signal statistics',
  summary: 'Count signals by source, type and outcome, with the precision of each source',
  notes: [
    'PRECISION is the share of resolved signals among resolved, dismissed and archived ones, with the Wilson interval at 95 %.',
    'Days are days of detection (UTC), first and last included. Default: the last 90 days; maximum: 366 days.',
  ].join('\n'),
  options: {
    since: instant('DAY', 'First day of detection (default: 90 days before the last)'),
    until: instant('DAY', 'Last day of detection (default: today)'),
    type: text('TYPE', 'Only signals of this type'),
    source: text('NAME', 'Only the source of this name'),
    ...serviceOptions,
  },
  example: 'platform signal statistics --since 2026-01-01',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const input = {
      ...{ since: toDay(params.since), until: toDay(params.until) },
      ...{ signal_type: params.type, source_name: params.source },
    }
    const statistics = await api.call('intelligence.signal.statistics', input)
    const { since, until, items, total } = statistics as {
      since: string
      until: string
      items: OutputRow[]
      total: OutputRow
    }
    printResult(terminal, params.json, statistics, () =>
      [
        formatTable(terminal, items, statisticsColumns, `No signals were detected from ${since} to ${until}`),
        '',
        formatFields(terminal, {
          days: `${since} to ${until}`,
          disposed: total.disposed,
          precision: formatPrecision(total),
        }),
      ].join(line_break),
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
