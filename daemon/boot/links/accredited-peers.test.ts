// A peer without a valid accreditation is unavailable in the profile classified_airgapped, available elsewhere.
import { expect, test } from 'vitest'
import { isRefusal } from '../../kernel/error/errors.ts'
import { type Peer, peer } from '../../kernel/identity/peer.ts'
import { site } from '../../roles/site/role.ts'
import { resolveProfileSettings } from '../profile.ts'
import { accreditedPeers, findAccreditationFault } from './accredited-peers.ts'

const day_ms = 86_400_000
const march_second_ms = Date.parse('2026-03-02T00:00:00Z')

const buildPeer = (name: string): Peer =>
  peer.parse({
    name,
    tenant_id: name,
    keys: [
      {
        kid: 'k',
        algorithm: 'Ed25519',
        use: 'message',
        status: 'active',
        // RFC 8037, appendix A
        jwk: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
        fingerprint: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
        created: new Date(march_second_ms).toISOString(),
      },
    ],
    ceiling: { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' },
    enrolled: new Date(march_second_ms).toISOString(),
  })

function resolveTestSettings(deployment_profile = 'classified_airgapped') {
  const held = (valid_until: string) => ({ authority: 'Board', reference: 'AB-1', valid_until })
  const accreditations = { bravo: held('2026-03-02'), charlie: held('2026-03-01') }
  const platform = { name: 'vault', tenant_id: 't', deployment_profile }
  return resolveProfileSettings([site], { platform, site: { accreditations } }, {}, {}, '/')
}

function world(deployment_profile?: string) {
  const pinned = ['bravo', 'charlie', 'delta'].map(buildPeer)
  const clock = { now: march_second_ms }
  const all = { list: async () => pinned, get: async (name: string) => pinned.find((each) => each.name === name) }
  const peers = accreditedPeers(all, resolveTestSettings(deployment_profile), () => clock.now)
  const names = async () => (await peers.list()).map(({ name }) => name)
  const found = async (name: string) => {
    const answer = await peers.get(name).catch((error: unknown) => error)
    return isRefusal(answer) ? `${answer.code}: ${answer.message}` : (answer as Peer | undefined)?.name
  }
  return { clock, names, found, pinned }
}

test('those without one, and those whose one has ended, are not among the peers', async () => {
  expect(await world().names()).toEqual(['bravo'])
})

test('asking for one of them is refused as not available now, with the reason', async () => {
  const { found } = world()
  expect(await found('bravo')).toBe('bravo')
  expect(await found('charlie')).toBe(
    'unavailable: the channel to charlie may not be used: its accreditation ended on 2026-03-01',
  )
  expect(await found('delta')).toBe('unavailable: the channel to delta may not be used: it has no accreditation')
})

test('one who is not pinned is just not there', async () => {
  expect(await world().found('nobody')).toBeUndefined()
})

test('the last day counts whole, by UTC, and the next instant ends it', async () => {
  const { clock, names, found } = world()
  clock.now = march_second_ms + day_ms - 1
  expect([await names(), await found('bravo')]).toEqual([['bravo'], 'bravo'])
  clock.now += 1
  expect([await names(), await found('bravo')]).toEqual([[], expect.stringContaining('ended on 2026-03-02')])
})

test('a peer that is pinned meanwhile counts by the same rule', async () => {
  const { pinned, names, found } = world()
  pinned.push(buildPeer('echo'))
  expect([await names(), await found('echo')]).toEqual([['bravo'], expect.stringContaining('no accreditation')])
})

test.each(['single_cluster', 'multi_tenant_cloud', 'customer_onprem', 'coalition_federated'])(
  '%s asks for none',
  async (deployment_profile) => {
    const { names, found } = world(deployment_profile)
    expect([await names(), await found('delta')]).toEqual([['bravo', 'charlie', 'delta'], 'delta'])
  },
)

test.each(['constructor', '__proto__', 'toString'])('no peer is accredited by being called %s', (name) => {
  expect(findAccreditationFault(name, resolveTestSettings(), march_second_ms)).toBe('it has no accreditation')
})
