// Why two records are held to be one, or not: from the prior, field by field, to the score; the data of a waterfall
// chart.
import { type BarChart, type ChartBar, formatSigned } from '../chart/chart.ts'
import { renderBarChartSvg } from '../chart/svg.ts'
import { renderBarChartText, wrapText } from '../chart/text.ts'

/** What one field says. `level` is undefined where a record says nothing: then `bits` is what that costs, mostly 0. */
export type FieldEvidence = {
  readonly field: string
  readonly left: string | undefined
  readonly right: string | undefined
  readonly level: string | undefined
  /** Weight of the level, as log-odds to base 2. */
  readonly bits: number
  /** What an equal value adds for being rare, or takes off for being common. */
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

/** Running totals after each field, in the order given. */
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
 * Bars that begin where the one before has ended: the prior, each field, what rarity adds, and the score from nought.
 */
export function buildWaterfallChart(waterfall: Waterfall, title: string): BarChart {
  const { prior_bits, steps, bits } = waterfall
  const bars: ChartBar[] = [{ name: 'prior', to: prior_bits, note: formatSigned(prior_bits) }]
  let from = prior_bits
  for (const { field, level, bits: weight, frequency_bits, total_bits } of steps) {
    bars.push({ name: field, from, to: from + weight, note: `${formatSigned(weight)} ${level ?? 'no evidence'}` })
    if (frequency_bits !== 0) {
      const what = frequency_bits > 0 ? 'rare value' : 'common value'
      bars.push({ name: '', from: from + weight, to: total_bits, note: `${formatSigned(frequency_bits)} ${what}` })
    }
    from = total_bits
  }
  bars.push({ name: 'score', to: bits, note: `${formatSigned(bits)} ${formatPercent(waterfall.probability)}` })
  return { title, measure: 'bits', bars }
}

export function renderWaterfallSvg(waterfall: Waterfall, title: string): string {
  return renderBarChartSvg(buildWaterfallChart(waterfall, title))
}

/** For a terminal of so many columns: the chart, then the values side by side, then the keys that both share. */
export function renderWaterfallText(waterfall: Waterfall, title: string, width: number): string {
  const { steps, found_by } = waterfall
  const widest = Math.min(Math.floor(width / 3), Math.max(0, ...steps.map(({ field }) => field.length)))
  const values = steps.map(({ field, left, right, level }) => {
    const said = level === undefined ? 'says nothing' : level
    return wrapText(`${field.padEnd(widest)}  ${left ?? '-'} | ${right ?? '-'} (${said})`, width, widest + 2)
  })
  const keys =
    found_by.length > 0 ? `Both share: ${found_by.join(', ')}.` : 'Both share no key: other records led there.'
  return `${[renderBarChartText(buildWaterfallChart(waterfall, title), width), values.join('\n'), wrapText(keys, width)].join('\n\n')}\n`
}

/** Never a certainty that it is not. */
function formatPercent(probability: number): string {
  if (probability > 0.9999) return 'over 99.99 %'
  if (probability < 0.0001) return 'under 0.01 %'
  return `${(probability * 100).toFixed(2)} %`
}
