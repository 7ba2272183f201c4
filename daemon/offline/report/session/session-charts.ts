// Charts of the opinions of a session: who is trusted how far, what each adds, and how far they disagree.
import type { Combination } from '../../../roles/consensus/combine/combination.ts'
import type { Influence } from '../../../roles/consensus/combine/influence.ts'
import { type BarSegment, renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { renderScoreStrip } from '../../../shared/report/chart/score-strip.ts'
import { renderWaterfall } from '../../../shared/report/chart/waterfall-chart.ts'
import { formatFraction } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'

export type WeightedOpinion = {
  readonly name: string
  readonly score: number
  /** Accuracy times credibility. */
  readonly weight: number
  readonly accuracy?: number
  readonly credibility?: number
}

export type SessionFigures = Pick<Combination, 'method' | 'score' | 'conflict' | 'belief' | 'plausibility'> & {
  readonly opinions: readonly WeightedOpinion[]
  readonly ratify_threshold: number
  readonly conflict_threshold: number
}

/** Scores, and what each contributor adds to the combined one. */
export function renderScores(figures: SessionFigures): Markup {
  const { opinions, score, ratify_threshold, belief, plausibility } = figures
  const bounds = { belief: belief ?? undefined, plausibility: plausibility ?? undefined }
  return html`${renderScoreStrip({ opinions, score, ratify_threshold, ...bounds })}${renderShares(figures)}`
}

/** The middle of the scale: an opinion there says nothing. */
const neutral = 0.5

function renderShares({ method, score, opinions, ratify_threshold }: SessionFigures): Markup {
  const total = opinions.reduce((sum, { weight }) => sum + weight, 0)
  if (method !== 'weighted_average') return renderMasses(opinions)
  if (score === null || total === 0) return html`<p>No opinion has any weight, so there is no combined score.</p>`
  return renderWaterfall({
    title: 'From no opinion to the combined score',
    description: `Each contributor moves the score by its share of the weight times its distance from ${neutral}. Blue moves it towards a match, orange towards a non-match.`,
    measure: 'combined score',
    start: { name: 'no opinion', value: neutral },
    steps: opinions.map(({ name, score: own, weight }) => ({ name, change: (weight / total) * (own - neutral) })),
    end: { name: 'combined', value: score },
    marks: [
      { at: ratify_threshold, label: `match from ${formatFraction(ratify_threshold)}` },
      { at: 1 - ratify_threshold, label: `non-match to ${formatFraction(1 - ratify_threshold)}` },
    ],
    rowHeading: 'contributor',
  })
}

function renderMasses(opinions: readonly WeightedOpinion[]): Markup {
  return renderBarChart({
    title: 'Evidence of each contributor',
    description:
      'Dempster’s rule takes each score as evidence for a match and for a non-match, discounted by the weight; what is missing to 1 says nothing.',
    measure: 'evidence',
    to: 1,
    legend: [
      { name: 'for a match', tone: 'c1' },
      { name: 'for a non-match', tone: 'c2' },
    ],
    rows: opinions.map(({ name, score, weight }) => ({
      name,
      parts: [
        { tone: 'c1', value: weight * score },
        { tone: 'c2', value: weight * (1 - score) },
      ],
      text: formatFraction(weight),
    })),
    rowHeading: 'contributor',
  })
}

/** How far each contributor is trusted. */
export function renderTrust(opinions: readonly WeightedOpinion[]): Markup {
  const ranked = opinions.toSorted((a, b) => b.weight - a.weight)
  return renderBarChart({
    title: 'Trust: weight of each contributor',
    description: 'The weight is accuracy times credibility, the heaviest first.',
    measure: 'weight',
    to: 1,
    rows: ranked.map(({ name, weight, accuracy, credibility }) => ({
      name,
      parts: [{ tone: 'c3', value: weight }],
      text:
        accuracy === undefined || credibility === undefined
          ? formatFraction(weight)
          : `${formatFraction(accuracy)} × ${formatFraction(credibility)}`,
    })),
    rowHeading: 'contributor',
  })
}

/** The conflict of all, and without each one: those whose bar ends before the threshold decide. */
export function renderConflict(
  { conflict, conflict_threshold }: Pick<SessionFigures, 'conflict' | 'conflict_threshold'>,
  influence: readonly Influence[],
): Markup {
  const ranked = influence.toSorted((a, b) => a.conflict_without - b.conflict_without)
  const drawPart = (value: number): BarSegment => ({ tone: value >= conflict_threshold ? 'c2' : 'c1', value })
  return renderBarChart({
    title: 'Conflict, and without each contributor',
    description: `0 is full agreement, 1 is two equal camps at both ends. At ${formatFraction(conflict_threshold)} or more a session is in conflict whatever its score. Orange bars reach it. A short bar names a contributor without whom the others agree.`,
    measure: 'conflict',
    to: 1,
    mark: { at: conflict_threshold, label: `threshold ${formatFraction(conflict_threshold)}` },
    rows: [
      { name: 'all contributors', parts: [drawPart(conflict)], text: formatFraction(conflict) },
      ...ranked.map(({ contributor_id, conflict_without }) => ({
        name: `without ${contributor_id}`,
        parts: [drawPart(conflict_without)],
        text: formatFraction(conflict_without),
      })),
    ],
    rowHeading: 'who is counted',
  })
}
