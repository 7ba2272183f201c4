// Weighs an artifact by its recorded figures: sentences for it and against it, from fixed words, for a discussion of a decision.
import type { Artifact } from '../artifact/model.ts'

export type WeighedArtifact = { readonly for: readonly string[]; readonly against: readonly string[] }

/** Below it, a figure speaks against the artifact. */
const even_score = 0.5
/** Fewer observations may be chance. */
const few_observations = 20

export function weighArtifact({ content, status, is_flagged, low_scores }: Artifact): WeighedArtifact {
  const { evaluator_score, confidence, score_decomposition = {} } = content
  const { support, success_rate, failure_rate, baseline_rate } = content as Readonly<Record<string, unknown>>
  const points: (readonly [isFor: boolean, text: string])[] = []
  const weigh = (value: unknown, least: number, name: string) => {
    if (typeof value === 'number') points.push([value >= least, `${name} ${format(value)}`])
  }
  weigh(evaluator_score, even_score, 'The evaluator gives it the score')
  weigh(confidence, even_score, 'Its own confidence is')
  weigh(support, few_observations, 'Observations that it rests on:')
  for (const [rate, name] of [
    [success_rate, 'Calls succeed at the rate'],
    [failure_rate, 'Calls fail at the rate'],
  ] as const)
    if (typeof rate === 'number' && typeof baseline_rate === 'number')
      points.push([rate > baseline_rate, `${name} ${format(rate)} with it, and ${format(baseline_rate)} without`])
  for (const [term, value] of Object.entries<unknown>(score_decomposition))
    if (typeof value === 'number' && value > 0) points.push([false, `The score has lost ${format(value)} by ${term}`])
  if (low_scores > 0) points.push([false, `Low scores in a row: ${low_scores}`])
  if (is_flagged) points.push([false, 'It is flagged for review, since guidance that rests on it fails'])
  if (status !== 'active') points.push([false, `It is ${status}, so nobody gets it`])
  const select = (side: boolean) => points.filter(([isFor]) => isFor === side).map(([, text]) => text)
  return { for: select(true), against: select(false) }
}

const format = (value: number) => String(Math.round(value * 1_000) / 1_000)
