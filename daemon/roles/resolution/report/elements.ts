// Small parts of the page: escaped text, figures, bars within tables. No part has a style of its own: the policy forbids it.
import { escapeMarkup } from '../../../kernel/text/markup.ts'

const max_shown_characters = 300

/** Text that was in the data: one line, escaped, abridged with its length. */
export function renderValue(value: string | undefined): string {
  if (value === undefined) return '<span class="none" title="no value">–</span>'
  return escapeMarkup(abridge(value))
}

export function abridge(value: string, max_characters = max_shown_characters): string {
  if (value.length <= max_characters) return value
  return `${value.slice(0, max_characters).toWellFormed()}… (${value.length} characters)`
}

/** A whole number with separators of thousands. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/** A share in per cent; near none and near all, a whole number would hide the difference. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 1) return 'under 1 %'
  return `${percent > 99 && percent < 100 ? Math.min(99.9, Number(percent.toFixed(1))) : Math.round(percent)} %`
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
export function renderBar({ from, to }: BarScale, start: number, end: number, mark?: number): string {
  const place = (value: number) => round(((Math.min(to, Math.max(from, value)) - from) / (to - from || 1)) * bar_width)
  const [left, right] = [place(Math.min(start, end)), place(Math.max(start, end))]
  const lines = [
    ...(from < 0 ? [`<path class="zero" d="M${place(0)} 0V${bar_height}"/>`] : []),
    ...(mark === undefined ? [] : [`<path class="cut" d="M${place(mark)} 0V${bar_height}"/>`]),
  ]
  const kind = end < start ? 'less' : 'more'
  return `<svg class="bar" viewBox="0 0 ${bar_width} ${bar_height}" preserveAspectRatio="none" aria-hidden="true"><rect class="${kind}" x="${left}" y="2" width="${round(Math.max(1, right - left))}" height="10"/>${lines.join('')}</svg>`
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

export function round(value: number): number {
  return Number(value.toFixed(1))
}
