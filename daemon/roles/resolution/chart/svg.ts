// Draws charts as SVG: a picture alone, without scripts, links or fonts of others, the same bytes for the same chart.
import { type Axis, type Bars, ends, figure, type Lines, reach, type Series, ticks } from './chart.ts'

const width = 720
const row = 22
const bar_height = 14
const font = 12
/** About what a letter of the font takes; names longer than their room are cut. */
const letter = 6.6
/** Told apart with any kind of colour vision. Okabe and Ito, "Color Universal Design", 2008. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
const negative = colours[1]

/** Bars to the right are what speaks for, to the left what speaks against, in two colours. */
export function barsAsSvg({ title, measure, bars }: Bars): string {
  const [least, most] = reach(bars)
  const longest = Math.max(0, ...bars.map(({ name }) => name.length))
  const left = 16 + Math.min(260, longest * letter)
  const right = width - 90
  const x = scale(least, most, left, right)
  const bottom = 40 + bars.length * row
  const marks = bars.map((bar, at) => {
    const [from, to] = ends(bar)
    const top = 40 + at * row
    const length = bar.to - (bar.from ?? 0)
    return [
      text(left - 8, top + 11, cut(bar.name, 260 / letter), 'end'),
      box(x(from), top, Math.max(1, x(to) - x(from)), bar_height, length < 0 ? negative : colours[0]),
      text(x(to) + 6, top + 11, bar.note ?? figure(length)),
    ].join('')
  })
  return page(title, bottom + 44, [
    ...ticks(least, most).map((tick) => upright(x(tick), 34, bottom, tick === 0 ? '#555' : '#ddd', figure(tick))),
    ...marks,
    text((left + right) / 2, bottom + 34, measure, 'middle'),
  ])
}

const [plot_left, plot_top, plot_right, plot_bottom] = [64, 40, width - 24, 360] as const

export function linesAsSvg({ title, x, y, series, marks = [] }: Lines): string {
  const across = scale(x.from, x.to, plot_left, plot_right)
  const up = scale(y.from, y.to, plot_bottom, plot_top)
  const level = (tick: number) =>
    line(plot_left, up(tick), plot_right, up(tick), '#ddd') + text(plot_left - 8, up(tick) + 4, figure(tick), 'end')
  return page(title, plot_bottom + 44 + row, [
    ...ticks(y.from, y.to).map(level),
    ...ticks(x.from, x.to, 8).map((tick) => upright(across(tick), plot_top, plot_bottom, '#eee', figure(tick))),
    ...marks.map(({ at, label }) => markAt(across(at), label)),
    ...series.map((each, at) => path(pointsOf(each, x), across, up, colourOf(at))),
    text((plot_left + plot_right) / 2, plot_bottom + 34, x.label, 'middle'),
    text(plot_left - 48, plot_top - 12, y.label),
    ...series.map(({ name }, at) => legend(name, at)),
  ])
}

/** Steps have a corner where the value changes, and go on to the end of the scale. */
function pointsOf({ points, isSteps = false }: Series, { to }: Axis): Series['points'] {
  const last = points.at(-1)
  if (!isSteps || !last) return points
  const corners = points.flatMap((point, at) => {
    const before = points[at - 1]
    return before ? [[point[0], before[1]] as const, point] : [point]
  })
  return last[0] < to ? [...corners, [to, last[1]]] : corners
}

function path(points: Series['points'], x: Scale, y: Scale, colour: string): string {
  const places = points.map(([across, up]) => `${place(x(across))},${place(y(up))}`)
  return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
}

function legend(name: string, at: number): string {
  const left = plot_left + at * 150
  const top = plot_bottom + 44
  return box(left, top, bar_height, 4, colourOf(at)) + text(left + 20, top + 6, cut(name, 120 / letter))
}

function markAt(x: number, label: string): string {
  const drawn = `<line x1="${place(x)}" y1="${plot_top}" x2="${place(x)}" y2="${plot_bottom}" stroke="#555" stroke-dasharray="4 3"/>`
  return drawn + text(x + 4, plot_top + 12, cut(label, 30))
}

function colourOf(at: number): string {
  return colours[at % colours.length] ?? colours[0]
}

type Scale = (value: number) => number

/** What lies beyond the bounds is drawn at the edge. */
function scale(from: number, to: number, start: number, end: number): Scale {
  const part = (value: number) => Math.min(1, Math.max(0, (value - from) / (to - from || 1)))
  return (value) => start + (end - start) * part(value)
}

function page(title: string, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="sans-serif" font-size="${font}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="20" font-size="14" font-weight="bold">${escaped(cut(title, 90))}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function text(x: number, y: number, given: string, anchor: 'start' | 'middle' | 'end' = 'start'): string {
  const at = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text x="${place(x)}" y="${place(y)}"${at}>${escaped(given)}</text>`
}

function box(x: number, y: number, across: number, down: number, colour: string): string {
  return `<rect x="${place(x)}" y="${place(y)}" width="${place(across)}" height="${place(down)}" fill="${colour}"/>`
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string): string {
  return `<line x1="${place(x1)}" y1="${place(y1)}" x2="${place(x2)}" y2="${place(y2)}" stroke="${colour}"/>`
}

function upright(x: number, top: number, bottom: number, colour: string, label: string): string {
  return line(x, top, x, bottom, colour) + text(x, bottom + 16, label, 'middle')
}

function place(value: number): string {
  return String(Number(value.toFixed(2)))
}

function cut(given: string, most: number): string {
  const letters = [...given]
  return letters.length <= most ? given : `${letters.slice(0, Math.floor(most) - 1).join('')}…`
}

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text of others: no mark-up, nothing that XML 1.0 forbids, nothing that turns the direction of what follows. */
function escaped(given: string): string {
  return given
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"']/g, (mark) => marks[mark] ?? '')
}
