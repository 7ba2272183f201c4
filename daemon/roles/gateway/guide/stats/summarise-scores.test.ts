// The summary has the lowest scores first, and artifacts without a score in the number of all alone.
import { expect, test } from 'vitest'
import { summariseScores } from './summarise-scores.ts'

const build = (id: string, content: object) => ({
  id,
  type: 'PromptShim' as const,
  attached: { content: { ...content } },
})

test('artifacts that were never evaluated have no score', () => {
  const none = { active: 1, evaluated: 0, mean: null, low: 0, lowest: [] }
  expect(summariseScores([build('a', { confidence: 0.5 })])).toEqual(none)
})

test('low scores are counted, and the ten lowest are listed', () => {
  const many = Array.from({ length: 12 }, (_, at) => build(`b${String(at).padStart(2, '0')}`, { evaluator_score: 0.8 }))
  const lowest = [build('z', { evaluator_score: 0.25, confidence: 0.5 }), build('a', { evaluator_score: 0.49 })]
  const { lowest: listed, ...summary } = summariseScores([...many, ...lowest])
  expect(summary).toEqual({ active: 14, evaluated: 14, mean: expect.closeTo((12 * 0.8 + 0.74) / 14, 10), low: 2 })
  expect(listed.map(({ artifact_id }) => artifact_id)).toEqual(['z', 'a', ...many.slice(0, 8).map(({ id }) => id)])
  expect(listed[0]).toEqual({ artifact_id: 'z', type: 'PromptShim', evaluator_score: 0.25, confidence: 0.5 })
})
