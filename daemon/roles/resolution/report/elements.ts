// Small parts of the page: values, scores, bars within tables.
import { round } from '../../../shared/report/format-figures.ts'
import { abridge, html, type Markup } from '../../../shared/report/markup.ts'

export const max_value_characters = 300

/** Text that was in the data: one line, abridged with its length. */
export function renderValue(value: string | undefined): Markup {
  if (value === undefined) return html`<span class="none" title="no value">–</span>`
  return html`${abridge(value, max_value_characters)}`
}

/** A score or a weight with its sign. */
export function formatScore(value: number, scale: 'log_odds' | 'likeness'): string {
  const text = Math.abs(value).toFixed(scale === 'log_odds' ? 1 : 3)
  return `${value < 0 ? '\u2212' : '+'}${text}`
}

const bar_width = 160
const bar_height = 14

export type BarScale = { readonly from: number; readonly to: number }

/** A bar from one value to another, with a line at 0 and one at `mark`; the numbers beside it say the same. */
export function renderBar({ from, to }: BarScale, start: number, end: number, mark?: number): Markup {
  const place = (value: number) => round(((Math.min(to, Math.max(from, value)) - from) / (to - from || 1)) * bar_width)
  const [left, right] = [place(Math.min(start, end)), place(Math.max(start, end))]
  const lines = [
    ...(from < 0 ? [html`<path class="zero" d="M${place(0)} 0V${bar_height}"/>`] : []),
    ...(mark === undefined ? [] : [html`<path class="cut" d="M${place(mark)} 0V${bar_height}"/>`]),
  ]
  const kind = end < start ? 'less' : 'more'
  return html`<svg class="bar" viewBox="0 0 ${bar_width} ${bar_height}" preserveAspectRatio="none" aria-hidden="true"><rect class="${kind}" x="${left}" y="2" width="${round(Math.max(1, right - left))}" height="10"/>${lines}</svg>`
}

/** The scale of bars that begin at 0. */
export function spanBars(values: readonly number[]): BarScale {
  let [from, to] = [0, 0]
  for (const value of values) {
    if (value < from) from = value
    if (value > to) to = value
  }
  return { from, to: to === from ? from + 1 : to }
}
