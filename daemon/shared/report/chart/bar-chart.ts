// Horizontal bars beside names, with an axis; a bar may have several parts.
import { html, type Markup } from '../markup.ts'
import { type ChartTone, drawBar, drawLine, drawText, fitLabel, renderFigure } from './figure.ts'
import { computeTicks, formatFigure } from './ticks.ts'

export type BarSegment = { readonly tone: ChartTone; readonly value: number }

export type BarRow = {
  readonly name: string
  /** Drawn one behind the other. */
  readonly parts: readonly BarSegment[]
  /** Text behind the bar. */
  readonly text: string
}

export type BarChartFacts = {
  readonly title: string
  readonly description: string
  /** What the axis counts, with its unit. */
  readonly measure: string
  readonly rows: readonly BarRow[]
  /** Names of the parts, where there are several. */
  readonly legend?: readonly { readonly name: string; readonly tone: ChartTone }[]
  /** End of the axis; by default that of the longest bar. */
  readonly to?: number
  readonly mark?: { readonly at: number; readonly label: string }
  readonly formatTick?: (value: number) => string
  /** Ticks are round multiples of it; by default 1. */
  readonly tick_unit?: number
  /** Heading of the names in the table of figures. */
  readonly rowHeading: string
}

const [width, left, top, row_height, bar_height] = [760, 190, 26, 26, 15] as const
/** Room for the text behind the longest bar, in pixels of a letter. */
const [letter_width, max_text_letters] = [6.8, 32] as const
const max_rows = 40
const name_letters = 26

export function renderBarChart(chart: BarChartFacts): Markup {
  const { title, description, measure, legend = [], mark, formatTick = formatFigure, tick_unit = 1, rowHeading } = chart
  if (chart.rows.length === 0) return html`<p>${title}: none.</p>`
  const rows = chart.rows.slice(0, max_rows)
  const lengthOf = ({ parts }: BarRow) => parts.reduce((sum, { value }) => sum + value, 0)
  const to = Math.max(chart.to ?? 0, ...rows.map(lengthOf), mark?.at ?? 0) || 1
  const letters = rows.reduce((most, { text }) => Math.max(most, Math.min(max_text_letters, text.length)), 0)
  const right = 20 + letters * letter_width
  const across = (value: number) => left + (Math.max(0, value) / to) * (width - left - right)
  const bottom = top + rows.length * row_height
  const ticks = computeTicks(0, to / tick_unit, 5).map((tick) => tick * tick_unit)
  const grid = ticks.flatMap((tick) => [
    drawLine('grid', across(tick), top - 4, across(tick), bottom),
    drawText(across(tick), bottom + 16, formatTick(tick), 'middle', 'tick'),
  ])
  const bars = rows.flatMap((row, at) => {
    const y = top + at * row_height + (row_height - bar_height) / 2
    let start = 0
    const parts = row.parts.map(({ tone, value }) => {
      const from = across(start)
      start += value
      return drawBar(tone, from, y, value > 0 ? Math.max(1, across(start) - from) : 0, bar_height)
    })
    return [
      drawText(left - 10, y + 12, fitLabel(row.name, name_letters), 'end'),
      ...parts,
      drawText(Math.max(left, across(start)) + 6, y + 12, fitLabel(row.text, max_text_letters), 'start', 'value'),
    ]
  })
  const marks = mark && [
    drawLine('cut', across(mark.at), top - 8, across(mark.at), bottom),
    drawText(across(mark.at), top - 12, mark.label, across(mark.at) > width / 2 ? 'end' : 'start', 'tick'),
  ]
  const omitted = chart.rows.length > rows.length ? ` The first ${rows.length} of ${chart.rows.length} are drawn.` : ''
  return renderFigure({
    title,
    description: description + omitted,
    ...{ width, height: bottom + 40, legend },
    content: [
      ...grid,
      ...bars,
      drawLine('axis', left, top - 4, left, bottom),
      ...(marks ?? []),
      drawText((left + width - right) / 2, bottom + 34, measure, 'middle', 'tick'),
    ],
    table: {
      caption: title,
      columns: [rowHeading, { heading: measure, kind: 'number' }],
      rows: rows.map(({ name, text }) => [name, text]),
    },
  })
}
