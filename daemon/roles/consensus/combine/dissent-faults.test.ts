// A dissent of a peer is recomputed whole, whatever its number of contributors: true ones have no fault, false ones one.
import { expect, test } from 'vitest'
import { buildDissent } from '../../../../test/support/consensus/build-dissent.ts'
import { buildOpinions } from '../../../../test/support/consensus/opinions.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { decide } from './decide.ts'
import { analyseConflict, type DissentBody } from './dissent.ts'
import { findDissentFaults } from './dissent-faults.ts'

const contributors = 200
const methods = ['weighted_average', 'dempster_shafer'] as const

const analyse = async (...conflict: Parameters<typeof analyseConflict>) => runToEnd(analyseConflict(...conflict))

function buildCase(combination_method: (typeof methods)[number]) {
  const policy = quorumPolicy.parse({ m: 2, n: contributors, combination_method, conflict_threshold: 0.1 })
  const opinions = buildOpinions(
    ...Array.from({ length: contributors }, (_, at) => [((at * 7) % 10) / 10, 0.3 + ((at * 31) % 97) / 200] as const),
  )
  const decision = decide(policy, opinions)
  if (decision.state !== 'IN_CONFLICT') throw new Error(`the session is ${decision.state}`)
  return { policy, body: buildDissent(policy, opinions, decision) }
}

const lies: readonly (readonly [part: string, lie: (body: DissentBody) => DissentBody])[] = [
  [
    'influence',
    (body) => ({
      ...body,
      influence: body.influence.map((each, at) => (at === 150 ? { ...each, conflict_without: 0 } : each)),
    }),
  ],
  ['smallest_set', (body) => ({ ...body, smallest_set: { contributor_ids: ['c1'], decision: 'match', exact: false } })],
]

test.for(methods)('%s: a dissent of two hundred that follows from its positions has no fault', async (method) => {
  const { policy, body } = buildCase(method)
  expect(await findDissentFaults(policy, body, analyse)).toEqual([])
})

test.for(methods)('%s: a false analysis of two hundred contributors is named', async (method) => {
  const { policy, body } = buildCase(method)
  for (const [part, lie] of lies)
    expect(await findDissentFaults(policy, lie(body), analyse)).toEqual([`${part} does not follow from the positions`])
})
