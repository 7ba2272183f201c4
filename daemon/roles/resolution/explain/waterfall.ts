// Why two records are held to be one, or not: from the prior, field by field, to the score; the data of a waterfall chart.
import type { Bar, Bars } from '../chart/chart.ts'
import { barsAsSvg } from '../chart/svg.ts'
import { barsAsText, wrapped } from '../chart/text.ts'

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

export type Evidence = {
  readonly prior_bits: number
  readonly fields: readonly FieldEvidence[]
  /** Keys that both records share, as in `surname: sound`. */
  readonly found_by: readonly string[]
}

export type Step = FieldEvidence & { readonly total_bits: number }

export type Waterfall = {
  readonly prior_bits: number
  readonly steps: readonly Step[]
  readonly bits: number
  readonly probability: number
  readonly found_by: readonly string[]
}

/** Running totals after each field, in the order given. */
export function waterfallOf({ prior_bits, fields, found_by }: Evidence): Waterfall {
  let total = prior_bits
  const steps = fields.map((field) => {
    total += field.bits + field.frequency_bits
    return { ...field, total_bits: total }
  })
  return { prior_bits, steps, bits: total, probability: probabilityOf(total), found_by }
}

export function probabilityOf(bits: number): number {
  return 1 / (1 + 2 ** -bits)
}

/** Bars that begin where the one before has ended: the prior, each field, what rarity adds, and the score from nought. */
export function barsOf(waterfall: Waterfall, title: string): Bars {
  const { prior_bits, steps, bits } = waterfall
  const bars: Bar[] = [{ name: 'prior', to: prior_bits, note: signed(prior_bits) }]
  let from = prior_bits
  for (const { field, level, bits: weight, frequency_bits, total_bits } of steps) {
    bars.push({ name: field, from, to: from + weight, note: `${signed(weight)} ${level ?? 'no evidence'}` })
    if (frequency_bits !== 0) {
      const what = frequency_bits > 0 ? 'rare value' : 'common value'
      bars.push({ name: '', from: from + weight, to: total_bits, note: `${signed(frequency_bits)} ${what}` })
    }
    from = total_bits
  }
  bars.push({ name: 'score', to: bits, note: `${signed(bits)} ${percent(waterfall.probability)}` })
  return { title, measure: 'bits', bars }
}

export function waterfallAsSvg(waterfall: Waterfall, title: string): string {
  return barsAsSvg(barsOf(waterfall, title))
}

/** For a terminal of so many columns: the chart, then the values side by side, then the keys that both share. */
export function waterfallAsText(waterfall: Waterfall, title: string, width: number): string {
  const { steps, found_by } = waterfall
  const widest = Math.min(Math.floor(width / 3), Math.max(0, ...steps.map(({ field }) => field.length)))
  const values = steps.map(({ field, left, right, level }) => {
    const said = level === undefined ? 'says nothing' : level
    return wrapped(`${field.padEnd(widest)}  ${left ?? '-'} | ${right ?? '-'} (${said})`, width, widest + 2)
  })
  const keys =
    found_by.length > 0 ? `Both share: ${found_by.join(', ')}.` : 'Both share no key: other records led there.'
  return `${[barsAsText(barsOf(waterfall, title), width), values.join('\n'), wrapped(keys, width)].join('\n\n')}\n`
}

function signed(bits: number): string {
  return `${bits < 0 ? '-' : '+'}${Math.abs(bits).toFixed(2)}`
}

/** Never a certainty that it is not. */
function percent(probability: number): string {
  if (probability > 0.9999) return 'over 99.99 %'
  if (probability < 0.0001) return 'under 0.01 %'
  return `${(probability * 100).toFixed(2)} %`
}
