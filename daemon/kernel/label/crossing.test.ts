// What crosses stays within the ceiling and goes only to those it is released to, whichever way and by whatever map.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefusal } from '../error/errors.ts'
import type { Peer } from '../identity/peer.ts'
import { admitIncomingLabel, checkOutgoingLabel } from './crossing.ts'
import type { Label } from './label.ts'

const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
const names = ['alpha', 'bravo', 'NOR', 'FRA']
const some = (...of: string[]) => fc.uniqueArray(fc.constantFrom(...of))
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
  .map(({ level, categories: held, releasable_names, label_map }) => {
    const ceiling = { policy: 'SITE', level, categories: held, originator: 'alpha' }
    return { name: 'bravo', tenant_id: 'bravo', releasable_names, ceiling, label_map } as unknown as Peer
  })

/** The rule in other words than the code's: by rank, by set, by membership. */
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

test('what leaves is ours, within the ceiling, and released to a name of the peer', () => {
  fc.assert(
    fc.property(labels, peers, (label, peer) => {
      expect(checkOutgoingLabel(label, peer, policy) === undefined).toBe(
        mayPass(label, peer, ['bravo', ...peer.releasable_names]),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('what enters is, in our own terms, within the ceiling and released to us', () => {
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

test('a map can bring a label above the ceiling, and then it does not enter', () => {
  const peer = { name: 'bravo', ceiling: { policy: 'SITE', level: 'RESTRICTED', categories: [], originator: 'a' } }
  const label_map = { OTHER: { levels: { LOW: 'SECRET', HIGH: 'UNCLASSIFIED' }, categories: {} } }
  const theirs = { policy: 'OTHER', categories: [], originator: 'bravo', releasable_to: ['alpha'] }
  const given = { ...peer, label_map } as unknown as Peer
  expect(admitIncomingLabel({ ...theirs, level: 'LOW' }, given, ['alpha'], policy)).toMatchObject({
    code: 'label_denied',
  })
  expect(admitIncomingLabel({ ...theirs, level: 'HIGH' }, given, ['alpha'], policy)).toMatchObject({
    level: 'UNCLASSIFIED',
  })
  expect(admitIncomingLabel({ ...theirs, level: 'HIGH' }, given, ['charlie'], policy)).toMatchObject({
    code: 'label_denied',
  })
})

test('what leaves under another policy’s label is refused even where a map knows it', () => {
  const peer = { name: 'bravo', ceiling: { policy: 'OTHER', level: 'LOW', categories: [], originator: 'a' } }
  const given = { ...peer, releasable_names: [], tenant_id: 'bravo' } as unknown as Peer
  const theirs = { policy: 'OTHER', level: 'LOW', categories: [], originator: 'bravo' }
  expect(checkOutgoingLabel(theirs, given, policy)).toMatchObject({ code: 'label_denied' })
})
