// Renders charts as self-contained SVG, without scripts, links or fonts; the same chart gives the same bytes.
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import {
  type BarChart,
  type ChartAxis,
  type ChartSeries,
  computeBarExtent,
  computeBarRange,
  computeTicks,
  formatFigure,
  type LineChart,
} from './chart.ts'

const width_px = 720
const row_height_px = 22
const bar_height_px = 14
const font_size_px = 12
/** Approximate width of a letter; longer names than their column are truncated. */
const letter_width_px = 6.6
/** Colours that all kinds of colour vision distinguish. Okabe and Ito, "Color Universal Design", 2008. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
const negativeColour = colours[1]

/** Renders positive bars to the right and negative bars to the left, in two colours. */
export function renderBarChartSvg({ title, measure, bars }: BarChart): string {
  const [lowest, highest] = computeBarRange(bars)
  const longest = Math.max(0, ...bars.map(({ name }) => name.length))
  const left = 16 + Math.min(260, longest * letter_width_px)
  const right = width_px - 90
  const x = createScale(lowest, highest, left, right)
  const bottom = 40 + bars.length * row_height_px
  const marks = bars.map((bar, at) => {
    const [from, to] = computeBarExtent(bar)
    const top = 40 + at * row_height_px
    const length = bar.to - (bar.from ?? 0)
    return [
      renderText(left - 8, top + 11, truncateLabel(bar.name, 260 / letter_width_px), 'end'),
      renderRect(x(from), top, Math.max(1, x(to) - x(from)), bar_height_px, length < 0 ? negativeColour : colours[0]),
      renderText(x(to) + 6, top + 11, bar.note ?? formatFigure(length)),
    ].join('')
  })
  return renderDocument(title, bottom + 44, [
    ...computeTicks(lowest, highest).map((tick) =>
      renderVerticalLine(x(tick), 34, bottom, tick === 0 ? '#555' : '#ddd', formatFigure(tick)),
    ),
    ...marks,
    renderText((left + right) / 2, bottom + 34, measure, 'middle'),
  ])
}

const [plot_left, plot_top, plot_right, plot_bottom] = [64, 40, width_px - 24, 360] as const

export function renderLineChartSvg({ title, x, y, series, marks = [] }: LineChart): string {
  const across = createScale(x.from, x.to, plot_left, plot_right)
  const up = createScale(y.from, y.to, plot_bottom, plot_top)
  const level = (tick: number) =>
    renderLine(plot_left, up(tick), plot_right, up(tick), '#ddd') +
    renderText(plot_left - 8, up(tick) + 4, formatFigure(tick), 'end')
  return renderDocument(title, plot_bottom + 44 + row_height_px, [
    ...computeTicks(y.from, y.to).map(level),
    ...computeTicks(x.from, x.to, 8).map((tick) =>
      renderVerticalLine(across(tick), plot_top, plot_bottom, '#eee', formatFigure(tick)),
    ),
    ...marks.map(({ at, label }) => renderMark(across(at), label)),
    ...series.map((line, at) => renderPolyline(expandSteps(line, x), across, up, pickColour(at))),
    renderText((plot_left + plot_right) / 2, plot_bottom + 34, x.label, 'middle'),
    renderText(plot_left - 48, plot_top - 12, y.label),
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
  const left = plot_left + at * 150
  const top = plot_bottom + 44
  return (
    renderRect(left, top, bar_height_px, 4, pickColour(at)) +
    renderText(left + 20, top + 6, truncateLabel(name, 120 / letter_width_px))
  )
}

function renderMark(x: number, label: string): string {
  const line = `<line x1="${formatCoordinate(x)}" y1="${plot_top}" x2="${formatCoordinate(x)}" y2="${plot_bottom}" stroke="#555" stroke-dasharray="4 3"/>`
  return line + renderText(x + 4, plot_top + 12, truncateLabel(label, 30))
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
    `<text x="16" y="20" font-size="14" font-weight="bold">${escapeMarkup(truncateLabel(title, 90))}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function renderText(x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end' = 'start'): string {
  const anchorAttribute = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text x="${formatCoordinate(x)}" y="${formatCoordinate(y)}"${anchorAttribute}>${escapeMarkup(text)}</text>`
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

function truncateLabel(text: string, max_length: number): string {
  const letters = [...text]
  return letters.length <= max_length ? text : `${letters.slice(0, Math.floor(max_length) - 1).join('')}…`
}
