// A waterfall: a value, the steps that change it, and where it ends, with thresholds.
import { formatChange, formatFraction } from '../format-figures.ts'
import type { Markup } from '../markup.ts'
import { drawBar, drawLine, drawText, fitLabel, renderFigure } from './figure.ts'
import { computeTicks, formatFigure } from './ticks.ts'

export type WaterfallRow = { readonly name: string; readonly change: number }

export type WaterfallChart = {
  readonly title: string
  readonly description: string
  readonly measure: string
  readonly start: { readonly name: string; readonly value: number }
  readonly steps: readonly WaterfallRow[]
  readonly end: { readonly name: string; readonly value: number }
  readonly marks: readonly { readonly at: number; readonly label: string }[]
  readonly rowHeading: string
}

const [width, left, right, top, row_height, bar_height] = [760, 190, 80, 34, 24, 14] as const
const max_steps = 30
const name_letters = 26

export function renderWaterfall(chart: WaterfallChart): Markup {
  const { title, description, measure, start, end, marks, rowHeading } = chart
  const steps = sumSmallest(chart.steps)
  const levels = [start.value]
  for (const { change } of steps) levels.push((levels.at(-1) ?? 0) + change)
  const all = [...levels, end.value, ...marks.map(({ at }) => at)]
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const room = (most - least) * 0.06 || 0.05
  const [from, to] = [least - room, most + room]
  const across = (value: number) => left + ((value - from) / (to - from)) * (width - left - right)
  const rows = steps.length + 2
  const bottom = top + rows * row_height
  const rowAt = (at: number) => top + at * row_height + (row_height - bar_height) / 2
  const point = (at: number, name: string, value: number) => [
    drawText(left - 10, rowAt(at) + 11, fitLabel(name, name_letters), 'end', 'strong'),
    drawBar('total', across(value) - 2, rowAt(at), 4, bar_height),
    drawText(width - right + 12, rowAt(at) + 11, formatFraction(value), 'start', 'strong'),
  ]
  const bars = steps.flatMap(({ name, change }, at) => {
    const [before = 0, after = 0] = [levels[at], levels[at + 1]]
    const [begin, finish] = [across(Math.min(before, after)), across(Math.max(before, after))]
    return [
      drawText(left - 10, rowAt(at + 1) + 11, fitLabel(name, name_letters), 'end'),
      drawLine('link', across(before), rowAt(at) + bar_height, across(before), rowAt(at + 1)),
      drawBar(change < 0 ? 'c2' : 'c1', begin, rowAt(at + 1), Math.max(1, finish - begin), bar_height),
      drawText(width - right + 12, rowAt(at + 1) + 11, formatChange(change), 'start', 'value'),
    ]
  })
  const isCrowded = marks.some(
    ({ at }, number) => number > 0 && Math.abs(across(at) - across(marks[number - 1]?.at ?? at)) < 130,
  )
  const cuts = marks.flatMap(({ at, label }, number) => [
    drawLine('cut', across(at), top - 6, across(at), bottom),
    drawText(across(at), top - 10 - (isCrowded ? number % 2 : 0) * 12, label, 'middle', 'tick'),
  ])
  const ticks = computeTicks(from, to, 6).flatMap((tick) => [
    drawLine('grid', across(tick), top, across(tick), bottom),
    drawText(across(tick), bottom + 16, formatFigure(tick), 'middle', 'tick'),
  ])
  return renderFigure({
    ...{ title, description, width, height: bottom + 38 },
    content: [
      ...ticks,
      ...cuts,
      ...point(0, start.name, start.value),
      ...bars,
      ...point(rows - 1, end.name, end.value),
      drawText((left + width - right) / 2, bottom + 33, measure, 'middle', 'tick'),
    ],
    table: {
      caption: title,
      columns: [rowHeading, { heading: 'change', kind: 'number' }, { heading: measure, kind: 'number' }],
      rows: [
        [start.name, '', formatFraction(start.value)],
        ...steps.map(({ name, change }, at) => [name, formatChange(change), formatFraction(levels[at + 1])]),
        [end.name, '', formatFraction(end.value)],
      ],
    },
  })
}

/** Of many steps, those with the least change become one. */
function sumSmallest(steps: readonly WaterfallRow[]): readonly WaterfallRow[] {
  if (steps.length <= max_steps) return steps
  const ranked = steps.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change))
  const [kept, rest] = [new Set(ranked.slice(0, max_steps - 1)), ranked.slice(max_steps - 1)]
  const change = rest.reduce((sum, step) => sum + step.change, 0)
  return [...steps.filter((step) => kept.has(step)), { name: `${rest.length} others`, change }]
}
