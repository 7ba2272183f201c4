// A label that crosses stays within the ceiling and reaches only its audience, in both directions and with any label
// map.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefusal } from '../error/errors.ts'
import type { Peer } from '../identity/peer.ts'
import { admitIncomingLabel, checkOutgoingLabel } from './crossing.ts'
import type { Label } from './label.ts'

const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
const names = ['alpha', 'bravo', 'NOR', 'FRA']
const some = (...names: string[]) => fc.uniqueArray(fc.constantFrom(...names))
const levels = fc.constantFrom(...policy.levels)
const categories = some('crypto', 'nuclear')
const labels: fc.Arbitrary<Label> = fc
  .record({
    policy: fc.constantFrom('SITE', 'SITE', 'OTHER'),
    level: fc.oneof(levels, fc.constant('COSMIC')),
    categories,
    originator: fc.constantFrom(...names),
    releasable_to: fc.option(some(...names), { nil: undefined }),
  })
  .map(({ releasable_to, ...rest }) => ({ ...rest, ...(releasable_to ? { releasable_to } : {}) }))
const maps = fc.option(
  fc.constant({
    OTHER: { levels: { SECRET: 'UNCLASSIFIED', RESTRICTED: 'SECRET' }, categories: { nuclear: 'crypto' } },
  }),
  { nil: undefined },
)
const peers: fc.Arbitrary<Peer> = fc
  .record({ level: levels, categories, releasable_names: some('NOR', 'FRA'), label_map: maps })
  .map(({ level, categories, releasable_names, label_map }) => {
    const ceiling = { policy: 'SITE', level, categories, originator: 'alpha' }
    return { name: 'bravo', tenant_id: 'bravo', releasable_names, ceiling, label_map } as unknown as Peer
  })

/** The rule restated independently of the code: by rank, set and membership. */
function mayPass(label: Label, peer: Peer, receiver: readonly string[]): boolean {
  const rank = policy.levels.indexOf(label.level)
  const audience = label.releasable_to ?? [label.originator]
  return (
    label.policy === 'SITE' &&
    rank >= 0 &&
    rank <= policy.levels.indexOf(peer.ceiling.level) &&
    label.categories.filter((category) => !peer.ceiling.categories.includes(category)).length === 0 &&
    new Set([...audience, ...receiver]).size < new Set(audience).size + new Set(receiver).size
  )
}

test('an outgoing label is of the own policy, within the ceiling, and released to the peer', () => {
  fc.assert(
    fc.property(labels, peers, (label, peer) => {
      expect(checkOutgoingLabel(label, peer, policy) === undefined).toBe(
        mayPass(label, peer, ['bravo', ...peer.releasable_names]),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('an incoming label, once translated, is within the ceiling and released to this site', () => {
  fc.assert(
    fc.property(labels, peers, some('alpha', 'NOR'), (label, peer, receiver) => {
      const entered = admitIncomingLabel(label, peer, receiver, policy)
      if (label.policy === 'SITE') expect(!isRefusal(entered)).toBe(mayPass(label, peer, receiver))
      if (!isRefusal(entered)) expect(mayPass(entered, peer, receiver)).toBe(true)
      if (label.policy === 'OTHER' && !peer.label_map) expect(entered).toMatchObject({ code: 'label_denied' })
    }),
    { numRuns: 1_000 },
  )
})

test('a label that its map raises above the ceiling is refused', () => {
  const peer = { name: 'bravo', ceiling: { policy: 'SITE', level: 'RESTRICTED', categories: [], originator: 'a' } }
  const label_map = { OTHER: { levels: { LOW: 'SECRET', HIGH: 'UNCLASSIFIED' }, categories: {} } }
  const theirs = { policy: 'OTHER', categories: [], originator: 'bravo', releasable_to: ['alpha'] }
  const receivingPeer = { ...peer, label_map } as unknown as Peer
  expect(admitIncomingLabel({ ...theirs, level: 'LOW' }, receivingPeer, ['alpha'], policy)).toMatchObject({
    code: 'label_denied',
  })
  expect(admitIncomingLabel({ ...theirs, level: 'HIGH' }, receivingPeer, ['alpha'], policy)).toMatchObject({
    level: 'UNCLASSIFIED',
  })
  expect(admitIncomingLabel({ ...theirs, level: 'HIGH' }, receivingPeer, ['charlie'], policy)).toMatchObject({
    code: 'label_denied',
  })
})

test('an outgoing label of another policy is refused even where a map translates it', () => {
  const peer = { name: 'bravo', ceiling: { policy: 'OTHER', level: 'LOW', categories: [], originator: 'a' } }
  const receivingPeer = { ...peer, releasable_names: [], tenant_id: 'bravo' } as unknown as Peer
  const theirs = { policy: 'OTHER', level: 'LOW', categories: [], originator: 'bravo' }
  expect(checkOutgoingLabel(theirs, receivingPeer, policy)).toMatchObject({ code: 'label_denied' })
})
