// Counts by the hours of the week, in UTC: what happens outside working hours stands out.
import { formatWhole } from '../format-figures.ts'
import type { Markup } from '../markup.ts'
import { drawBar, drawText, renderFigure } from './figure.ts'

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const hours = 24
const [width, left, top, cell_width, cell_height] = [760, 92, 8, 27, 24] as const
const levels = 5

/** `counts`: 168 counts, from Monday at midnight. */
export function renderWeekChart(title: string, counts: readonly number[]): Markup {
  const most = Math.max(1, ...counts)
  const bottom = top + days.length * cell_height
  const cells = days.flatMap((day, row) => [
    drawText(left - 10, top + row * cell_height + 16, day, 'end'),
    ...Array.from({ length: hours }, (_, hour) => {
      const count = counts[row * hours + hour] ?? 0
      // By logarithm: one busy hour would hide all others.
      const level = count === 0 ? 0 : Math.max(1, Math.ceil((levels * Math.log1p(count)) / Math.log1p(most)))
      return drawBar(
        ...([
          `heat h${level}`,
          left + hour * cell_width,
          top + row * cell_height,
          cell_width - 2,
          cell_height - 2,
        ] as const),
        `${day} ${formatHour(hour)}: ${formatWhole(count)}`,
      )
    }),
  ])
  const labels = Array.from({ length: hours / 3 }, (_, at) =>
    drawText(left + at * 3 * cell_width, bottom + 15, formatHour(at * 3), 'start', 'tick'),
  )
  const sumOf = (row: number, from: number, to: number) =>
    counts.slice(row * hours + from, row * hours + to).reduce((sum, count) => sum + count, 0)
  return renderFigure({
    title,
    description: `The darker a field, the more records in that hour of the week, as a logarithm; the busiest has ${formatWhole(most)}. An empty field has none.`,
    ...{ width, height: bottom + 36 },
    content: [...cells, ...labels, drawText(left + 12 * cell_width, bottom + 31, 'hour, UTC', 'middle', 'tick')],
    table: {
      caption: title,
      columns: ['day', ...quarters.map(([name]) => ({ heading: name, kind: 'number' as const }))],
      rows: days.map((day, row) => [day, ...quarters.map(([, from, to]) => formatWhole(sumOf(row, from, to)))]),
    },
  })
}

const quarters = [
  ['0 to 6 h', 0, 6],
  ['6 to 12 h', 6, 12],
  ['12 to 18 h', 12, 18],
  ['18 to 24 h', 18, 24],
] as const

function formatHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
