// Counts over time as stacked columns, in UTC.
import { formatTime, formatWhole } from '../format-figures.ts'
import { html, type Markup } from '../markup.ts'
import { type ChartTone, drawBar, drawLine, drawText, renderFigure } from './figure.ts'
import { computeTicks } from './ticks.ts'

export type TimeSeries = { readonly name: string; readonly tone: ChartTone; readonly counts: readonly number[] }

export type TimeChart = {
  readonly title: string
  readonly description: string
  readonly measure: string
  /** Epoch milliseconds of the first column. */
  readonly start: number
  /** Width of a column. */
  readonly step_ms: number
  readonly series: readonly TimeSeries[]
}

const [width, height, left, right, top, bottom] = [760, 240, 66, 20, 18, 194] as const
const max_labels = 6
const label_width = 105
const max_listed = 60

export function renderTimeChart({ title, description, measure, start, step_ms, series }: TimeChart): Markup {
  const columns = Math.max(0, ...series.map(({ counts }) => counts.length))
  if (columns === 0) return html`<p>${title}: none.</p>`
  const sums = Array.from({ length: columns }, (_, at) =>
    series.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0),
  )
  const most = Math.max(1, ...sums)
  const step = (width - left - right) / columns
  const up = (value: number) => bottom - (value / most) * (bottom - top)
  const nameOf = (at: number) => formatTime(start + at * step_ms)
  const bars = sums.flatMap((sum, at) => {
    let base = 0
    return series.flatMap(({ name, tone, counts }) => {
      const count = counts[at] ?? 0
      if (count === 0) return []
      const y = up(base + count)
      const bar = drawBar(
        ...([tone, left + at * step, y, Math.max(0.6, step - Math.min(2, step / 4)), up(base) - y] as const),
        `${nameOf(at)}: ${formatWhole(count)} ${name}${sum === count ? '' : ` of ${formatWhole(sum)}`}`,
      )
      base += count
      return [bar]
    })
  })
  const grid = computeTicks(0, most, 4)
    .filter(Number.isInteger)
    .flatMap((tick) => [
      drawLine('grid', left, up(tick), width - right, up(tick)),
      drawText(left - 8, up(tick) + 4, formatWhole(tick), 'end', 'tick'),
    ])
  const every = Math.max(1, Math.ceil(columns / max_labels))
  const shown = Array.from({ length: Math.ceil(columns / every) }, (_, at) => at).filter(
    (at) => at === 0 || left + at * every * step + label_width <= width,
  )
  const labels = shown.map((at) =>
    drawText(
      left + at * every * step,
      bottom + 17,
      nameOf(at * every).slice(0, step_ms >= 86_400_000 ? 10 : 16),
      'start',
      'tick',
    ),
  )
  const listed = sums.flatMap((sum, at) => (sum > 0 ? [at] : []))
  return renderFigure({
    ...{ title, description, width, height, legend: series },
    content: [
      ...grid,
      ...bars,
      drawLine('axis', left, bottom, width - right, bottom),
      ...labels,
      drawText((left + width - right) / 2, height - 8, `${measure}, UTC`, 'middle', 'tick'),
    ],
    table: {
      caption: title,
      columns: ['from', ...series.map(({ name }) => ({ heading: name, kind: 'number' as const }))],
      rows: listed
        .slice(0, max_listed)
        .map((at) => [nameOf(at), ...series.map(({ counts }) => formatWhole(counts[at] ?? 0))]),
      total: listed.length,
    },
  })
}
