// The short form of recent contributions preserves the full form.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Label } from '../../../../kernel/label/label.ts'
import { contribution } from './model.ts'
import {
  appendRecent,
  contributionDigest,
  expandRecent,
  recentContribution,
  type SubmittedContribution,
} from './recent-contribution.ts'

const labels: Label[] = ['LOW', 'HIGH'].map((level) => ({ policy: 'SITE', level, categories: [], originator: 'a' }))

const additions = fc.record({ label: fc.nat({ max: 1 }), drops: fc.boolean(), isReread: fc.boolean() })

test('after any additions and removals the full form can be restored', () => {
  fc.assert(
    fc.property(fc.array(additions, { maxLength: 20 }), (steps) => {
      let recent: ReturnType<typeof appendRecent> = []
      let full: SubmittedContribution[] = []
      for (const [n, { label, drops, isReread }] of steps.entries()) {
        const submitted: SubmittedContribution = {
          id: `con_${n}`,
          contributor_id: `c${n}`,
          pair_score: 0.5,
          accuracy: 1,
          credibility: 1,
          signer_key_id: 'k',
          classification: labels[label] as Label,
          submitted_by: 'bench',
          at: '2026-01-01T00:00:00Z',
        }
        const dropped = drops ? Math.min(3, full.length) : 0
        full = [...full.slice(dropped), submitted]
        recent = appendRecent(recent, submitted, dropped)
        // As after a restart: no label is the same object any more.
        if (isReread) recent = recentContribution.array().parse(JSON.parse(JSON.stringify(recent)))
        const expected = full.map((each, at) => ({
          ...each,
          ordinal: n - full.length + at + 2,
          digest: contributionDigest(each),
        }))
        const back = expandRecent({ contributions: n + 1, recent })
        expect(back).toEqual(expected)
        expect(contribution.array().safeParse(back).success).toBe(true)
      }
    }),
  )
})

test('a label that stays the same is stored once', () => {
  const submitted = { id: 'a', classification: labels[0] } as SubmittedContribution
  expect(appendRecent(appendRecent([], submitted, 0), { ...submitted, id: 'b' }, 0)[1]).not.toHaveProperty(
    'classification',
  )
})
