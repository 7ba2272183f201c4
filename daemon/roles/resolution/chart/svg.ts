// Renders charts as self-contained SVG, without scripts, links or fonts; the same chart gives the same bytes.
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import { computeTicks, formatFigure } from '../../../shared/report/chart/ticks.ts'
import {
  type BarChart,
  type ChartAxis,
  type ChartBar,
  type ChartSeries,
  computeBarExtent,
  computeBarRange,
  type LineChart,
} from './chart.ts'
import { measureText, truncateToWidth } from './text-width.ts'

const width_px = 720
const row_height_px = 22
const bar_height_px = 14
const font_size_px = 12
/** Colours that all kinds of colour vision distinguish. Okabe and Ito, "Color Universal Design", 2008. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
const negativeColour = colours[1]

const margin_px = 16
const title_size_px = 14
/** Bold letters are wider. */
const bold_factor = 1.1
const tick_room_px = 60
const max_name_px = 260
const max_note_px = 300

/** Renders positive bars to the right and negative bars to the left, in two colours; groups have headings. */
export function renderBarChartSvg({ title, measure, bars }: BarChart): string {
  const [lowest, highest] = computeBarRange(bars)
  const notes = bars.map(({ note, from = 0, to }) => truncateToWidth(note ?? formatFigure(to - from), max_note_px))
  const left = margin_px + 8 + Math.min(max_name_px, findWidest(bars.map(({ name }) => name)))
  const right = width_px - margin_px - 6 - findWidest(notes)
  const x = createScale(lowest, highest, left, right)
  const parts: string[] = []
  let top = 40
  for (const [at, bar] of bars.entries()) {
    if (bar.group !== undefined && bar.group !== bars[at - 1]?.group) {
      parts.push(
        renderHeading(margin_px, top + (at > 0 ? 18 : 12), truncateToWidth(bar.group, width_px - 2 * margin_px)),
      )
      top += at > 0 ? 28 : row_height_px
    }
    parts.push(renderBar(bar, notes[at] ?? '', x, { left, top }))
    top += row_height_px
  }
  return renderDocument(title, top + 44, [
    ...computeTicks(lowest, highest, Math.min(5, Math.floor((right - left) / tick_room_px))).map((tick) =>
      renderVerticalLine(x(tick), 34, top, tick === 0 ? '#555' : '#ddd', formatFigure(tick)),
    ),
    ...parts,
    renderText((left + right) / 2, top + 34, measure, 'middle'),
  ])
}

function findWidest(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, measureText(text)), 0)
}

/** Renders a bar with its name before it, and its note behind its right end. */
function renderBar(bar: ChartBar, note: string, x: SvgScale, { left, top }: { left: number; top: number }): string {
  const [from, to] = computeBarExtent(bar)
  const colour = bar.to < (bar.from ?? 0) ? negativeColour : colours[0]
  return [
    renderText(left - 8, top + 11, truncateToWidth(bar.name, max_name_px), 'end'),
    renderRect(x(from), top, Math.max(1, x(to) - x(from)), bar_height_px, colour),
    renderText(x(to) + 6, top + 11, note),
  ].join('')
}

const [plot_left, plot_top, plot_right, plot_bottom] = [64, 60, width_px - 24, 360] as const
const legend_columns = 4

/** The label of the vertical axis has a line of its own between the title and the plot. */
export function renderLineChartSvg({ title, x, y, series, marks = [] }: LineChart): string {
  const across = createScale(x.from, x.to, plot_left, plot_right)
  const up = createScale(y.from, y.to, plot_bottom, plot_top)
  const level = (tick: number) =>
    renderLine(plot_left, up(tick), plot_right, up(tick), '#ddd') +
    renderText(plot_left - 8, up(tick) + 4, formatFigure(tick), 'end')
  const legend_rows = Math.ceil(series.length / legend_columns)
  return renderDocument(title, plot_bottom + 44 + legend_rows * row_height_px, [
    ...computeTicks(y.from, y.to).map(level),
    ...computeTicks(x.from, x.to, 8).map((tick) =>
      renderVerticalLine(across(tick), plot_top, plot_bottom, '#eee', formatFigure(tick)),
    ),
    ...marks.map(({ at, label }, number) => renderMark(across(at), label, number)),
    ...series.map((line, at) => renderPolyline(expandSteps(line, x), across, up, pickColour(at))),
    renderText((plot_left + plot_right) / 2, plot_bottom + 34, x.label, 'middle'),
    renderText(margin_px, plot_top - 14, y.label),
    ...series.map(({ name }, at) => renderLegend(name, at)),
  ])
}

/** Adds a corner wherever the value of steps changes, and continues the last step to the end of the scale. */
function expandSteps({ points, isSteps = false }: ChartSeries, { to }: ChartAxis): ChartSeries['points'] {
  const last = points.at(-1)
  if (!isSteps || !last) return points
  const corners = points.flatMap((point, at) => {
    const before = points[at - 1]
    return before ? [[point[0], before[1]] as const, point] : [point]
  })
  return last[0] < to ? [...corners, [to, last[1]]] : corners
}

function renderPolyline(points: ChartSeries['points'], x: SvgScale, y: SvgScale, colour: string): string {
  const coordinates = points.map(([across, up]) => `${formatCoordinate(x(across))},${formatCoordinate(y(up))}`)
  return `<polyline points="${coordinates.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
}

function renderLegend(name: string, at: number): string {
  const left = plot_left + (at % legend_columns) * 155
  const top = plot_bottom + 48 + Math.floor(at / legend_columns) * row_height_px
  return (
    renderRect(left, top, bar_height_px, 4, pickColour(at)) + renderText(left + 20, top + 6, truncateToWidth(name, 125))
  )
}

/** Renders a labelled vertical line, its label on the side that has room, each in a row of its own. */
function renderMark(x: number, label: string, number: number): string {
  const line = `<line x1="${formatCoordinate(x)}" y1="${plot_top}" x2="${formatCoordinate(x)}" y2="${plot_bottom}" stroke="#555" stroke-dasharray="4 3"/>`
  const text = truncateToWidth(label, 200)
  const isLeft = x + 4 + measureText(text) > plot_right
  return line + renderText(isLeft ? x - 4 : x + 4, plot_top + 12 + number * 16, text, isLeft ? 'end' : 'start')
}

function pickColour(at: number): string {
  return colours[at % colours.length] ?? colours[0]
}

type SvgScale = (value: number) => number

/** Creates a scale from values to coordinates. Values beyond the bounds are drawn at the edge. */
function createScale(from: number, to: number, start: number, end: number): SvgScale {
  const part = (value: number) => Math.min(1, Math.max(0, (value - from) / (to - from || 1)))
  return (value) => start + (end - start) * part(value)
}

function renderDocument(title: string, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width_px} ${height}" width="${width_px}" height="${height}" role="img" font-family="sans-serif" font-size="${font_size_px}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${width_px}" height="${height}" fill="#fff"/>`,
    `<text x="${margin_px}" y="20" font-size="${title_size_px}" font-weight="bold">${escapeMarkup(truncateToWidth(title, width_px - 2 * margin_px, title_size_px * bold_factor))}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function renderText(x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end' = 'start'): string {
  const anchorAttribute = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text x="${formatCoordinate(x)}" y="${formatCoordinate(y)}"${anchorAttribute}>${escapeMarkup(text)}</text>`
}

function renderHeading(x: number, y: number, text: string): string {
  return `<text x="${formatCoordinate(x)}" y="${formatCoordinate(y)}" font-weight="bold">${escapeMarkup(text)}</text>`
}

function renderRect(x: number, y: number, across: number, down: number, colour: string): string {
  return `<rect x="${formatCoordinate(x)}" y="${formatCoordinate(y)}" width="${formatCoordinate(across)}" height="${formatCoordinate(down)}" fill="${colour}"/>`
}

function renderLine(x1: number, y1: number, x2: number, y2: number, colour: string): string {
  return `<line x1="${formatCoordinate(x1)}" y1="${formatCoordinate(y1)}" x2="${formatCoordinate(x2)}" y2="${formatCoordinate(y2)}" stroke="${colour}"/>`
}

function renderVerticalLine(x: number, top: number, bottom: number, colour: string, label: string): string {
  return renderLine(x, top, x, bottom, colour) + renderText(x, bottom + 16, label, 'middle')
}

function formatCoordinate(value: number): string {
  return String(Number(value.toFixed(2)))
}
