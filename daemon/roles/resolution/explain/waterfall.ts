// Explains the score of two records, from the prior, field by field, to the total: the data of a waterfall chart.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { type BarChart, type ChartBar, formatSigned } from '../chart/chart.ts'
import { renderBarChartSvg } from '../chart/svg.ts'
import { renderBarChartText, wrapText } from '../chart/text.ts'
import { isCapped } from '../engine/compare/cap-values.ts'
import { max_compared_characters } from '../lens/comparison.ts'

/** Evidence of one field. `level` is undefined where a record has no value; `bits` is then the penalty, usually 0. */
export type FieldEvidence = {
  readonly field: string
  readonly left: string | undefined
  readonly right: string | undefined
  readonly level: string | undefined
  /** Whether the level compares only the first characters of a value. */
  readonly truncated: boolean
  /** Weight of the level, as log-odds to base 2. */
  readonly bits: number
  /** Added for an equal value that is rare; negative for a common one. */
  readonly frequency_bits: number
}

export type MatchEvidence = {
  readonly prior_bits: number
  readonly fields: readonly FieldEvidence[]
  /** Keys that both records share, as in `surname: sound`. */
  readonly found_by: readonly string[]
}

export type WaterfallStep = FieldEvidence & { readonly total_bits: number }

export type Waterfall = {
  readonly prior_bits: number
  readonly steps: readonly WaterfallStep[]
  readonly bits: number
  readonly probability: number
  readonly found_by: readonly string[]
}

/** Computes the running total after each field, in order. */
export function buildWaterfall({ prior_bits, fields, found_by }: MatchEvidence): Waterfall {
  let total = prior_bits
  const steps = fields.map((field) => {
    total += field.bits + field.frequency_bits
    return { ...field, total_bits: total }
  })
  return { prior_bits, steps, bits: total, probability: bitsToProbability(total), found_by }
}

export function bitsToProbability(bits: number): number {
  return 1 / (1 + 2 ** -bits)
}

/**
 * Builds bars that each begin where the last one ended: the prior, each field and its frequency, then the score from 0.
 */
export function buildWaterfallChart(waterfall: Waterfall, title: string): BarChart {
  const { prior_bits, steps, bits } = waterfall
  const bars: ChartBar[] = [{ name: 'prior', to: prior_bits, note: formatSigned(prior_bits) }]
  let from = prior_bits
  for (const { field, level, bits: weight, frequency_bits, total_bits } of steps) {
    bars.push({ name: field, from, to: from + weight, note: `${formatSigned(weight)} ${level ?? 'no evidence'}` })
    if (frequency_bits !== 0) {
      const cause = frequency_bits > 0 ? 'rare value' : 'common value'
      bars.push({ name: '', from: from + weight, to: total_bits, note: `${formatSigned(frequency_bits)} ${cause}` })
    }
    from = total_bits
  }
  bars.push({ name: 'score', to: bits, note: `${formatSigned(bits)} ${formatPercent(waterfall.probability)}` })
  return { title, measure: 'bits', bars }
}

export function renderWaterfallSvg(waterfall: Waterfall, title: string): string {
  return renderBarChartSvg(buildWaterfallChart(waterfall, title))
}

/** Renders the chart, then the values side by side, then the shared keys, in `width` columns. */
export function renderWaterfallText(waterfall: Waterfall, title: string, width: number): string {
  const { steps, found_by } = waterfall
  const widest = Math.min(Math.floor(width / 3), Math.max(0, ...steps.map(({ field }) => field.length)))
  const values = steps.map(({ field, left, right, level, truncated }) => {
    const basis = truncated ? `, by the first ${max_compared_characters} characters` : ''
    return wrapText(
      escapeLine(`${field.padEnd(widest)}  ${abridge(left)} | ${abridge(right)} (${level ?? 'no evidence'}${basis})`),
      width,
      widest + 2,
    )
  })
  const keys =
    found_by.length > 0 ? `Shared keys: ${found_by.join(', ')}.` : 'The records share no key: other records link them.'
  return `${[renderBarChartText(buildWaterfallChart(waterfall, title), width), values.join('\n'), wrapText(escapeLine(keys), width)].join('\n\n')}\n`
}

/** Abridges a value that is longer than what a comparison reads, and adds its length. */
function abridge(value = '-'): string {
  if (!isCapped(value)) return value
  return `${value.slice(0, max_compared_characters).toWellFormed()}… (${value.length} characters)`
}

/** Formats a probability; never rounds it to certainty. */
function formatPercent(probability: number): string {
  if (probability > 0.9999) return 'over 99.99 %'
  if (probability < 0.0001) return 'under 0.01 %'
  return `${(probability * 100).toFixed(2)} %`
}
