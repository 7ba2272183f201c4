// Plots over scores, as SVG that takes its colours from the page.
import { formatWhole, round } from '../format-figures.ts'
import { html, type Markup } from '../markup.ts'
import type { TextAnchor } from './figure.ts'
import { computeTicks, formatFigure } from './ticks.ts'

const [width, height] = [640, 272] as const
/** Half the distance between the dots of estimates at one place. */
const estimate_gap = 7
const [left, right, top, bottom] = [72, width - 16, 40, height - 40] as const

export type PlotLine = {
  readonly name: string
  /** Number of its colour, from 1. */
  readonly colour: 1 | 2 | 3
  readonly points: readonly (readonly [x: number, y: number])[]
  /** Fills the area below it. */
  readonly isArea?: boolean
  /** Whether a value holds until the next point. */
  readonly isSteps?: boolean
}

/** A value with its range, drawn as a dot on a bar. */
export type PlotEstimate = {
  readonly colour: 1 | 2 | 3
  readonly at: number
  readonly value: number
  readonly low: number
  readonly high: number
}

export type PlotTick = { readonly at: number; readonly label: string }

export type Plot = {
  /** Names the plot for people who do not see it. */
  readonly title: string
  /** Says what it shows, with the figures at the cut. */
  readonly description: string
  readonly x: { readonly label: string; readonly from: number; readonly to: number }
  readonly y: { readonly label: string; readonly to: number; readonly ticks: readonly PlotTick[] }
  readonly lines: readonly PlotLine[]
  readonly marks: readonly { readonly at: number; readonly label: string }[]
  readonly estimates?: readonly PlotEstimate[]
}

/** Renders a figure with its legend and caption. */
export function renderPlot({ title, description, x, y, lines, marks, estimates = [] }: Plot): Markup {
  const across = (value: number) =>
    left + ((Math.min(x.to, Math.max(x.from, value)) - x.from) / (x.to - x.from || 1)) * (right - left)
  const up = (value: number) => bottom - (Math.min(y.to, Math.max(0, value)) / (y.to || 1)) * (bottom - top)
  const grid = [
    ...y.ticks.map(
      ({ at, label: text }) =>
        html`<path class="grid" d="M${left} ${round(up(at))}H${right}"/>${label(left - 8, up(at) + 4, text, 'end')}`,
    ),
    ...computeTicks(x.from, x.to, 8).map((tick) => label(across(tick), bottom + 18, formatFigure(tick), 'middle')),
    html`<path class="axis" d="M${left} ${bottom}H${right}"/>`,
    label((left + right) / 2, height - 6, x.label, 'middle'),
    label(4, 14, y.label, 'start'),
  ]
  const shown = marks.map(({ at, label: name }, number) => {
    const isRight = across(at) < (left + right) / 2
    return html`<path class="cut" d="M${round(across(at))} ${top - 6}V${bottom}"/>${label(across(at) + (isRight ? 6 : -6), top - 10 - number * 14, name, isRight ? 'start' : 'end')}`
  })
  const dots = estimates.map(({ colour, at, value, low, high }, number) => {
    const place = round(across(at) + estimate_gap * (2 * number - estimates.length + 1))
    return html`<path class="range c${colour}" d="M${place} ${round(up(low))}V${round(up(high))}"/><circle class="c${colour}" cx="${place}" cy="${round(up(value))}" r="4.5"/>`
  })
  const names = lines.map((line) => html`<li class="c${line.colour}">${line.name}</li>`)
  if (estimates.length > 0) names.push(html`<li class="dot">the run's own estimate, with its range</li>`)
  const legend = names.length > 1 ? html`<ul class="legend">${names}</ul>` : ''
  return html`<figure class="plot"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${`${title}. ${description}`}">${[
    ...grid,
    ...lines.map((line) => renderLine(line, x.to, across, up)),
    ...shown,
    ...dots,
  ]}</svg>${legend}<figcaption>${description}</figcaption></figure>`
}

type Coordinate = (value: number) => number

function renderLine(
  { points, colour, isArea = false, isSteps = false }: PlotLine,
  end: number,
  across: Coordinate,
  up: Coordinate,
): Markup {
  const [first] = points
  if (!first) return html``
  const parts = points.map(([x, y], at) => {
    const [to_x, to_y] = [round(across(x)), round(up(y))]
    if (at === 0) return html`M${to_x} ${to_y}`
    return isSteps ? html`H${to_x}V${to_y}` : html`L${to_x} ${to_y}`
  })
  const last = isSteps ? html`H${round(across(end))}` : ''
  const close = isArea ? html`V${bottom}H${round(across(first[0]))}Z` : ''
  return html`<path class="${isArea ? 'area' : 'line'} c${colour}" d="${parts}${last}${close}"/>`
}

function label(x: number, y: number, text: string, anchor: TextAnchor): Markup {
  return html`<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${text}</text>`
}

/** Ticks of shares, from none to all. */
export const shareTicks: readonly PlotTick[] = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, label: `${at * 100} %` }))

/** Height of a count on a logarithmic scale that begins at none. */
export function scaleCount(count: number): number {
  return Math.log10(1 + count)
}

const max_close_powers = 5

/** Ticks of counts: none, and powers of ten up to the first one that reaches `most`. */
export function listCountTicks(most: number): PlotTick[] {
  const powers = [1]
  while ((powers.at(-1) ?? most) < most) powers.push((powers.at(-1) ?? 1) * 10)
  // Of many powers, the first ones would cover each other.
  const shown = powers.length > max_close_powers ? powers.slice(1) : powers
  return [0, ...shown].map((count) => ({ at: scaleCount(count), label: formatWhole(count) }))
}
