// Weights by one variable, by single ones, and by neither.
import { expect, test } from 'vitest'
import { resolveSettings } from '../../../../kernel/settings/settings.ts'
import { guideSettings } from '../settings.ts'
import { readWeights, weightEntry } from './weights.ts'

const defaults = { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 }

function resolve(env: Readonly<Record<string, string>>) {
  const sources = {
    profile: {},
    env,
    flags: {},
    needsSecrets: () => true,
    readSecret: () => '',
    resolvePath: (file: string) => file,
  }
  return resolveSettings([guideSettings], sources)
}

test.each([
  [{}, defaults],
  [{ GUIDE_EVALUATOR_WEIGHTS: 'l3_error=4, user_feedback=0' }, { ...defaults, l3_error: 4, user_feedback: 0 }],
  [{ GUIDE_EVALUATOR_WEIGHT_CONFIDENCE: '2' }, { ...defaults, evaluator_confidence: 2 }],
  [
    { GUIDE_EVALUATOR_WEIGHTS: 'confidence=1,schema_mismatch=2.5', GUIDE_EVALUATOR_WEIGHT_CONFIDENCE: '0.25' },
    { ...defaults, l3_schema_mismatch: 2.5, evaluator_confidence: 0.25 },
  ],
])('%j gives %j', (env, weights) => {
  const { values } = resolve(env)
  expect(readWeights(values.get('guide') as never)).toEqual(weights)
})

test.each(['l3_error', 'l3_error=', 'l3_error=-1', 'l3_error=101', 'l3_error=1=2', 'l3_error=1e3', 'other=1', '=1'])(
  '%s is refused, with the names that there are',
  (entry) => {
    const [issue] = weightEntry.safeParse(entry).error?.issues ?? []
    expect(issue?.message).toContain('l3_error, schema_mismatch, user_feedback, confidence')
  },
)

test('a weight that is named twice is refused', () => {
  expect(resolve({ GUIDE_EVALUATOR_WEIGHTS: 'l3_error=1,l3_error=2' }).problems).toMatchObject([
    { path: 'guide.evaluator_weights', message: 'must name each weight once' },
  ])
})
