// Compares the prose of a dissent with its data: every reason stated, every name safe, equal input gives equal text.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildDissent } from '../../../../test/support/consensus/build-dissent.ts'
import { buildOpinions, combinationMethods, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { decide } from './decide.ts'
import type { DissentBody } from './dissent.ts'
import { explainAsMarkdown as markdownOf, explainAsText as textOf } from './explain.ts'
import type { Opinion } from './opinion.ts'
import { formatList, formatNumber } from './wording.ts'

const label = { policy: 'SITE', level: 'SECRET', categories: ['NUC'], originator: 'tenant-a' }
const explainText = (body: DissentBody) => textOf(body, label)
const explainMarkdown = (body: DissentBody) => markdownOf(body, label)

function bodyOf(policyFields: object, opinions: readonly Opinion[]): DissentBody {
  const policy = quorumPolicy.parse({ m: 2, n: 4, ...policyFields })
  const decision = decide(policy, opinions)
  const reason = decision.state === 'IN_CONFLICT' ? decision.reason : 'inconclusive'
  return buildDissent(policy, opinions, { reason, combination: decision.combination })
}

test('a conflict names its figures, both sides, and the decisive contributors', () => {
  const text = explainText(bodyOf({}, buildOpinions([0.9], [0.95], [0.1])))
  expect(text).toContain('At least 2 of 4 contributors had to answer.')
  expect(text).toContain('the conflict is 0.7556, and 0.5 or more stops a session whatever its score.')
  expect(text).toContain('For a match: c1 and c2 (total weight 2, mean score 0.925)')
  expect(text).toContain('Against a match: c3 (total weight 1, mean score 0.1)')
  expect(text).toContain('Furthest apart are c3 (0.1) and c2 (0.95).')
  expect(text).toContain('Without c3 the others would ratify a match. No smaller group would do.')
  expect(text).toContain('1 contributor may still be heard.')
})

test('carries the label of the dissent below its title', () => {
  const body = bodyOf({}, buildOpinions([0.9], [0.1]))
  expect(explainText(body).split('\n')[2]).toBe('Classification: SITE SECRET NUC, releasable to tenant-a.')
  const sharedLabel = { ...label, categories: [], releasable_to: ['FR', 'a`b'] }
  expect(textOf(body, sharedLabel).split('\n')[2]).toBe('Classification: SITE SECRET, releasable to FR, a`b.')
  expect(markdownOf(body, sharedLabel).split('\n')[2]).toBe(
    'Classification: `SITE` `SECRET`, releasable to `FR`, `` a`b ``.',
  )
  expect(textOf(body, { ...label, releasable_to: [] })).toContain('releasable to nobody.')
})

describe('each reason has its own text', () => {
  const evidential = { combination_method: 'dempster_shafer' }
  test.for([
    ['total conflict', evidential, buildOpinions([1], [0]), 'contradict each other completely'],
    ['inconclusive', { n: 2 }, buildOpinions([0.6], [0.6]), 'the combined score 0.6 lies between 0.2 and 0.8'],
    ['no weight', { n: 2 }, buildOpinions([1, 0], [1, 0]), 'No answer carries any weight'],
    ['too few in time', {}, buildOpinions([1]), 'Too few answered in time: 1 of the 2 needed.'],
    ['nobody in time', {}, [], 'Nobody answered.'],
    ['no set', { n: 2 }, buildOpinions([0.6], [0.6]), 'No group can be left out'],
  ] as const)('%s', ([, policy, opinions, words]) => expect(explainText(bodyOf(policy, opinions))).toContain(words))
})

test('the text does not depend on the order of arrival, and contains no NaN, null or undefined', () => {
  fc.assert(
    fc.property(combinationMethods, shuffledLists(7), (combination_method, [list, shuffled]) => {
      const body = bodyOf({ n: 24, combination_method, conflict_threshold: 0.2 }, list)
      const again = bodyOf({ n: 24, combination_method, conflict_threshold: 0.2 }, shuffled)
      expect(explainText(again)).toBe(explainText(body))
      expect(explainMarkdown(again)).toBe(explainMarkdown(body))
      expect(explainText(body)).not.toMatch(/NaN|null|undefined|Infinity/)
    }),
  )
})

test('names cannot move the cursor, reorder text or become markup', () => {
  const [first, second] = buildOpinions([0.9], [0.1])
  const hostile = [first, second].flatMap((opinion) =>
    opinion ? [{ ...opinion, contributor_id: `\u001b[2J\u202e\`*${opinion.contributor_id}\n# x` }] : [],
  )
  const body = bodyOf({ n: 2 }, hostile)
  expect(explainText(body)).not.toMatch(/(?!\n)\p{C}/u)
  expect(explainText(body)).not.toMatch(/^# x/m)
  expect(explainMarkdown(body)).toContain('`` \\u001b[2J\\u202e`*c1\\n# x ``')
})

test('a thousand contributors fit on a page', () => {
  const list = buildOpinions(...Array.from({ length: 1000 }, (_, at) => [at % 2] as const))
  const text = explainText(bodyOf({ n: 1000 }, list))
  expect(text).toContain('and 990 more, none with a lower score')
  expect(text.length).toBeLessThan(5000)
})

test('figures are never rounded into certainty', () => {
  expect([0.99999, 1, 0.00001, 0, -0.00001, -0, 0.7500000001].map(formatNumber)).toEqual([
    'over 0.9999',
    '1',
    'under 0.0001',
    '0',
    'over -0.0001',
    '0',
    '0.75',
  ])
  expect(formatList(['a', 'b', 'c'])).toBe('a, b and c')
})
