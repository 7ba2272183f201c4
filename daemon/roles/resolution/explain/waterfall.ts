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
  /** Whether the score is in bits, or a text similarity. */
  readonly scale: 'log_odds' | 'likeness'
  /** The score before any field: the prior in bits, or the similarity of the texts. */
  readonly base: number
  /** What one bit of a field adds to the score. */
  readonly per_bit: number
  readonly fields: readonly FieldEvidence[]
  /** Rules or keys by which the pair was found, as in `surname: sound`. */
  readonly found_by: readonly string[]
}

/** `total`: the score after this field. */
export type WaterfallStep = FieldEvidence & { readonly total: number }

export type Waterfall = Omit<MatchEvidence, 'fields'> & {
  readonly steps: readonly WaterfallStep[]
  /** The score. */
  readonly total: number
}

/** Computes the running total after each field, in order. */
export function buildWaterfall({ fields, ...evidence }: MatchEvidence): Waterfall {
  let total = evidence.base
  const steps = fields.map((field) => {
    total += (field.bits + field.frequency_bits) * evidence.per_bit
    return { ...field, total }
  })
  return { ...evidence, steps, total }
}

export function bitsToProbability(bits: number): number {
  return 1 / (1 + 2 ** -bits)
}

/**
 * Builds bars that each begin where the last one ended: the prior or the similarity of the texts, each field and its
 * frequency, then the score from 0.
 */
export function buildWaterfallChart({ scale, base, per_bit, steps, total }: Waterfall, title: string): BarChart {
  const isOdds = scale === 'log_odds'
  const format = (amount: number) => formatSigned(amount, isOdds ? 2 : 4)
  const bars: ChartBar[] = [{ name: isOdds ? 'prior' : 'texts', to: base, note: format(base) }]
  let from = base
  for (const { field, level, bits, frequency_bits, total: end } of steps) {
    const weight = bits * per_bit
    bars.push({ name: field, from, to: from + weight, note: `${format(weight)} ${level ?? 'no evidence'}` })
    if (frequency_bits !== 0) {
      const cause = frequency_bits > 0 ? 'rare value' : 'common value'
      bars.push({ name: '', from: from + weight, to: end, note: `${format(frequency_bits * per_bit)} ${cause}` })
    }
    from = end
  }
  const probability = isOdds ? ` ${formatPercent(bitsToProbability(total))}` : ''
  bars.push({ name: 'score', to: total, note: `${format(total)}${probability}` })
  return { title, measure: isOdds ? 'bits' : 'likeness', bars }
}

export function renderWaterfallSvg(waterfall: Waterfall, title: string): string {
  return renderBarChartSvg(buildWaterfallChart(waterfall, title))
}

/**
 * Renders the chart, then the values side by side, then how the pair was found, in `width` columns. `found`: a sentence instead
 * of the list of rules.
 */
export function renderWaterfallText(waterfall: Waterfall, title: string, width: number, found?: string): string {
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
  const rules = found_by.length > 0 ? `Found by ${found_by.join(', ')}.` : 'How the pair was found is not recorded.'
  return `${[renderBarChartText(buildWaterfallChart(waterfall, title), width), values.join('\n'), wrapText(escapeLine(found ?? rules), width)].join('\n\n')}\n`
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
