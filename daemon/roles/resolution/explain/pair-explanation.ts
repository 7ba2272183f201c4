// Explanation of any two records of a run: their values, the rules that bring them together, and the result, as data and text.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { formatSigned } from '../chart/chart.ts'
import { wrapText } from '../chart/text.ts'
import type { PairRule } from '../engine/block/pair-rules.ts'
import { type ComparisonState, listRules } from './describe-candidacy.ts'
import { renderWaterfallText, type Waterfall } from './waterfall.ts'

export type ExplainedRecord = {
  readonly source: string
  readonly id: string
  readonly cluster: number
  readonly size: number
}

export type RecordPairExplanation = {
  readonly left: ExplainedRecord
  readonly right: ExplainedRecord
  readonly state: ComparisonState
  readonly linked: boolean
  /** `null`: the score is a text similarity, which pairs that were not compared do not have. */
  readonly score: number | null
  readonly scale: 'bits' | 'likeness'
  readonly cut: number
  readonly prior_bits: number | null
  readonly fields: readonly ExplainedField[]
  readonly rules: readonly PairRule[]
  readonly reason: string
  readonly text: string
}

type ExplainedField = {
  readonly field: string
  readonly original: readonly [string | null, string | null]
  readonly normalised: readonly [string | null, string | null]
  readonly level: string | null
  readonly truncated: boolean
  readonly bits: number
  readonly frequency_bits: number
  readonly total: number
}

/** Renders the chart and the values, then the rules, then the result, in `width` columns. */
export function formatPairExplanation(
  explanation: Omit<RecordPairExplanation, 'text'>,
  waterfall: Waterfall,
  width: number,
): string {
  const { left, right, fields, rules, reason } = explanation
  const title = `${left.source} ${left.id} and ${right.source} ${right.id}`
  const changed = fields.filter(({ original, normalised }) => original.join('\n') !== normalised.join('\n'))
  const widest = Math.max(0, ...changed.map(({ field }) => field.length))
  const originals = changed.map(
    ({ field, original: [one, other] }) => `${field.padEnd(widest)}  ${one ?? '-'} | ${other ?? '-'}`,
  )
  const wrap = (line: string) => wrapText(escapeLine(line), width, 2)
  return [
    renderWaterfallText(waterfall, title, width, reason).trimEnd(),
    ...(originals.length > 0 ? [`As in the data:\n${originals.map((line) => wrap(`  ${line}`)).join('\n')}`] : []),
    `Rules:\n${listRules(rules)
      .map((line) => wrapText(`  ${line}`, width, 4))
      .join('\n')}`,
    describeResult(explanation).map(wrap).join('\n'),
  ].join('\n\n')
}

/** Half of the last decimal of a likeness in the file of pairs. */
const rounding = 0.000_05

function describeResult({ left, right, linked, score, scale, cut }: Omit<RecordPairExplanation, 'text'>): string[] {
  const unit = scale === 'bits' ? ' bits' : ''
  const decimals = scale === 'bits' ? 2 : 4
  const cutText = `the cut is ${formatSigned(cut, decimals)}${unit}`
  // The file of pairs has four decimals: at the cut itself, the link tells on which side a likeness lies.
  const isAtCut = score !== null && scale === 'likeness' && Math.abs(score - cut) < rounding
  const isAbove = isAtCut ? linked : score !== null && score > cut
  const height =
    score === null
      ? `The score is a text similarity, which pairs that were not compared do not have; ${cutText}.`
      : `The score is ${formatSigned(score, decimals)}${unit}, ${isAbove ? 'above' : 'not above'} the cut: ${cutText}.`
  const nameCluster = ({ cluster, size }: ExplainedRecord) =>
    `cluster ${cluster} (${size} ${size === 1 ? 'record' : 'records'})`
  const place = linked
    ? `Linked: both are in ${nameCluster(left)}`
    : `Not linked: ${nameCluster(left)} and ${nameCluster(right)}`
  const cause =
    linked && !isAbove
      ? ', held together by other records, or by a decision'
      : !linked && isAbove
        ? ', kept apart by the evidence of other records, by a better match, or by a decision'
        : ''
  return [height, `${place}${cause}.`]
}
