// Figures speak for an artifact or against it; those that it does not have say nothing.
import { expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import { weighArtifact } from './weigh-artifact.ts'

const build = (content: object, changes: object = {}) =>
  ({ ...buildArtifact('PromptShim', changes), content: { body: 'x', ...content } }) as never

test('an artifact without figures has nothing for it or against it', () => {
  expect(weighArtifact(build({}))).toEqual({ for: [], against: [] })
})

test('each figure is on its side', () => {
  const score_decomposition = { l3_error: 0.25, l3_schema_mismatch: 0, user_feedback: 0, evaluator_confidence: 0 }
  const good = { evaluator_score: 0.8, confidence: 0.5, support: 40, success_rate: 0.9, baseline_rate: 0.4 }
  expect(weighArtifact(build({ ...good, score_decomposition })).against).toEqual([
    'The score has lost 0.25 by l3_error',
  ])
  expect(weighArtifact(build(good)).for).toHaveLength(4)
  const poor = { evaluator_score: 0.1, confidence: 0.2, support: 3, success_rate: 0.3, baseline_rate: 0.4 }
  expect(weighArtifact(build(poor)).against).toHaveLength(4)
  const fallen = { status: 'demoted', low_scores: 2, is_flagged: true }
  expect(weighArtifact(build({}, fallen)).against).toHaveLength(3)
})
