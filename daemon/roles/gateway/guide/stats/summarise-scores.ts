// Summarises the scores of active artifacts: how many there are, how many are low, and the lowest of them.
import type { ArtifactType } from '../artifact/content.ts'
import { low_score } from '../evaluation/rules.ts'

type ScoredArtifact = {
  readonly id: string
  readonly type: ArtifactType
  readonly attached: { readonly content: Readonly<Record<string, unknown>> }
}

export type LowScore = {
  readonly artifact_id: string
  readonly type: ArtifactType
  readonly evaluator_score: number
  readonly confidence?: number
}

const max_lowest = 10

export function summariseScores(artifacts: readonly ScoredArtifact[]) {
  const scored = artifacts.flatMap(({ id, type, attached }): LowScore[] => {
    const { evaluator_score, confidence } = attached.content
    if (typeof evaluator_score !== 'number') return []
    return [{ artifact_id: id, type, evaluator_score, ...(typeof confidence === 'number' ? { confidence } : {}) }]
  })
  const sum = scored.reduce((before, { evaluator_score }) => before + evaluator_score, 0)
  return {
    active: artifacts.length,
    evaluated: scored.length,
    mean: scored.length === 0 ? null : sum / scored.length,
    low: scored.filter(({ evaluator_score }) => evaluator_score < low_score).length,
    lowest: scored.toSorted(compareScores).slice(0, max_lowest),
  }
}

function compareScores(one: LowScore, other: LowScore): number {
  return one.evaluator_score - other.evaluator_score || (one.artifact_id < other.artifact_id ? -1 : 1)
}
