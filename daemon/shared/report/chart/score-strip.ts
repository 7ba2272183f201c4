// Scores of a session on one scale from non-match to match: zones of the decision, opinions by weight, the combined score.

import { formatFraction } from '../format-figures.ts'
import { html, type Markup } from '../markup.ts'
import { drawBar, drawLine, drawText, fitLabel, renderFigure } from './figure.ts'

export type StripOpinion = { readonly name: string; readonly score: number; readonly weight: number }

export type ScoreStrip = {
  readonly opinions: readonly StripOpinion[]
  readonly score: number | null
  readonly ratify_threshold: number
  /** Bounds of the probability of a match, by the evidence. */
  readonly belief?: number | undefined
  readonly plausibility?: number | undefined
}

const [width, left, right, top, row_height] = [760, 190, 70, 58, 24] as const
const max_opinions = 40
const name_letters = 26
const [least_radius, radius_span] = [2.5, 6.5] as const

/** One line for each opinion, lowest score first; the area of a dot grows with its weight. */
export function renderScoreStrip({ opinions, score, ratify_threshold, belief, plausibility }: ScoreStrip): Markup {
  const sorted = opinions.toSorted((a, b) => a.score - b.score)
  const shown = selectEnds(sorted)
  const across = (value: number) => left + Math.min(1, Math.max(0, value)) * (width - left - right)
  const bottom = top + Math.max(1, shown.length) * row_height
  const low = 1 - ratify_threshold
  const zones = [
    drawBar('zone c2', across(0), top - 6, across(low) - across(0), bottom - top + 6),
    drawBar('zone c1', across(ratify_threshold), top - 6, across(1) - across(ratify_threshold), bottom - top + 6),
    drawText(across(low / 2), top - 14, 'non-match', 'middle', 'tick'),
    drawText(across(0.5), top - 14, 'undecided', 'middle', 'tick'),
    drawText(across((1 + ratify_threshold) / 2), top - 14, 'match', 'middle', 'tick'),
  ]
  const grid = [0, low, 0.5, ratify_threshold, 1].map((at) => [
    drawLine('grid', across(at), top - 6, across(at), bottom),
    drawText(across(at), bottom + 16, formatFraction(at), 'middle', 'tick'),
  ])
  const dots = shown.flatMap(({ name, score: own, weight }, at) => {
    const y = top + at * row_height + row_height / 2
    const radius = least_radius + radius_span * Math.sqrt(Math.min(1, Math.max(0, weight)))
    const tone = own > 0.5 ? 'c1' : own < 0.5 ? 'c2' : 'c3'
    return [
      drawLine('grid', across(0), y, across(1), y),
      drawText(left - 12, y + 4, fitLabel(name, name_letters), 'end'),
      html`<circle class="dot ${tone}" cx="${across(own).toFixed(1)}" cy="${y}" r="${radius.toFixed(1)}"/>`,
      drawText(width - right + 14, y + 4, formatFraction(own), 'start', 'value'),
    ]
  })
  const range =
    belief === undefined || plausibility === undefined
      ? []
      : [drawBar('range', across(belief), top - 6, Math.max(2, across(plausibility) - across(belief)), 6)]
  const combined =
    score === null
      ? []
      : [
          drawLine('cut strong', across(score), top - 30, across(score), bottom),
          drawText(across(score), top - 36, `combined ${formatFraction(score)}`, 'middle', 'value'),
        ]
  const omitted =
    sorted.length > shown.length
      ? ` Of ${sorted.length} opinions, the ${max_opinions / 2} lowest and the ${max_opinions / 2} highest are drawn.`
      : ''
  const evidence =
    range.length > 0
      ? ` The bar above spans belief ${formatFraction(belief)} to plausibility ${formatFraction(plausibility)}.`
      : ''
  return renderFigure({
    title: 'Opinions on the scale of the decision',
    description: `Each dot is the score of one contributor, lowest first; its area is the weight. The upright line is the combined score: at or above ${formatFraction(ratify_threshold)} it ratifies a match, at or below ${formatFraction(low)} a non-match.${evidence}${omitted}`,
    ...{ width, height: bottom + 38 },
    content: [
      ...zones,
      ...grid.flat(),
      ...dots,
      ...range,
      ...combined,
      drawText((left + width - right) / 2, bottom + 33, 'score: 0 says no match, 1 says match', 'middle', 'tick'),
    ],
    table: {
      caption: 'Opinions',
      columns: ['contributor', { heading: 'score', kind: 'number' }, { heading: 'weight', kind: 'number' }],
      rows: shown.map(({ name, score: own, weight }) => [name, formatFraction(own), formatFraction(weight)]),
      total: sorted.length,
    },
  })
}

/** Both ends of a long list. */
function selectEnds<T>(items: readonly T[]): readonly T[] {
  return items.length <= max_opinions ? items : [...items.slice(0, max_opinions / 2), ...items.slice(-max_opinions / 2)]
}
