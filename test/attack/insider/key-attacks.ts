// An insider and its key sets, and the acknowledgements that it signs.

import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import type { InsiderAttack, InsiderStage } from './insider-attack.ts'
import type { InsiderPeer } from './insider-peer.ts'

type KeySetChange = Readonly<Record<string, unknown>>

function buildKeySet({ name, tenant_id, keys }: InsiderPeer, change: KeySetChange = {}) {
  return canonicalJson({
    ...{ v: 1, type: 'platform.keyset', site: name, tenant_id, version: 1, previous: '0'.repeat(96) },
    ...{ created: new Date(noon).toISOString(), thresholds: { message: 1, root: 1 }, keys, ...change },
  })
}

export const sendKeySet =
  (
    change: (stage: InsiderStage) => KeySetChange,
    use: 'message' | 'root' = 'root',
    by = ({ peer }: InsiderStage) => peer,
  ) =>
  async (stage: InsiderStage) =>
    stage.peer.send('keys', { keyset: await by(stage).sign('keyset', buildKeySet(stage.peer, change(stage)), use) })

/** Sends each version after the one before it. */
async function sendVersions({ peer }: InsiderStage, ...changes: readonly KeySetChange[]): Promise<void> {
  for (const change of changes) {
    await peer.send('keys', { keyset: await peer.sign('keyset', buildKeySet(peer, change), 'root') })
  }
}

export const alterKeys = ({ keys }: InsiderPeer, use: PublicKey['use'], change: (key: PublicKey) => object) =>
  keys.map((key) => (key.use === use ? change(key) : key))

const keySetAttacks: readonly InsiderAttack[] = [
  {
    name: 'signs a key set with its message key alone',
    act: sendKeySet(() => ({}), 'message'),
    quarantined: ['REFUSED signature_invalid'],
  },
  {
    name: 'lets another peer’s root key sign its key set',
    act: sendKeySet(
      () => ({}),
      'root',
      ({ bystander }) => bystander,
    ),
    quarantined: ['REFUSED signature_invalid'],
  },
  {
    name: 'sends a key set of another site',
    act: sendKeySet(({ bystander: { name, tenant_id } }) => ({ site: name, tenant_id })),
    quarantined: ['REFUSED signature_invalid'],
  },
  { name: 'skips a version of its key set', act: sendKeySet(() => ({ version: 3 })), quarantined: ['REFUSED invalid'] },
  {
    name: 'signs two histories of its key set',
    act: (stage) =>
      sendVersions(stage, {}, { thresholds: { message: 1, root: 1 }, created: new Date(noon + 1_000).toISOString() }),
    quarantined: ['REFUSED already_exists'],
    isFrozen: true,
    alarms: ['site site.keyset.forked'],
  },
  {
    name: 'reinstates a key that it has revoked',
    act: async (stage) => {
      const { peer } = stage
      const [root] = peer.keys.filter(({ use }) => use === 'root')
      const revoked = peer.keys.map((key) => (key.use === 'message' ? { ...key, status: 'revoked' } : key))
      const first = buildKeySet(peer, { keys: revoked })
      // Root keys alone are left, so that this set is useless by its own word.
      await peer.send('keys', { keyset: await peer.sign('keyset', first, 'root') })
      await peer.send('keys', {
        keyset: await peer.sign(
          'keyset',
          buildKeySet(peer, { version: 2, previous: sha384(first), keys: root ? peer.keys : [] }),
          'root',
        ),
      })
    },
    quarantined: ['REFUSED invalid', 'REFUSED invalid'],
  },
  {
    name: 'requires more keys than it has',
    act: sendKeySet(() => ({ thresholds: { message: 5, root: 1 } })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'names a key twice',
    act: sendKeySet(({ peer }) => ({ keys: [...peer.keys, ...peer.keys] })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'brings a key of a use that peers do not pin',
    act: sendKeySet(({ peer }) => ({ keys: alterKeys(peer, 'message', (key) => ({ ...key, use: 'token' })) })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'dates its next key set before the one that is pinned',
    act: (stage) =>
      sendVersions(
        stage,
        {},
        {
          ...{ version: 2, previous: sha384(buildKeySet(stage.peer)), created: new Date(noon - 1_000).toISOString() },
        },
      ),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'writes a key set that is not canonical',
    act: async ({ peer }) => peer.send('keys', { keyset: await peer.sign('keyset', `${buildKeySet(peer)} `, 'root') }),
    quarantined: ['REFUSED invalid'],
  },
]

/** Where no way back is accredited, nothing that a peer says about arrivals counts. */
const acknowledgementAttacks: readonly InsiderAttack[] = [
  {
    name: 'acknowledges messages where no way back is accredited',
    act: async ({ peer }) => {
      const receipt = {
        ...{ v: 1, type: 'platform.gap_receipt', channel: `filedrop/alpha/${peer.name}`, src: peer.name, dst: 'alpha' },
        ...{ epoch: 1, highest: 9_000, floor: 9_000, missing: [] },
        ...{ created: new Date(noon).toISOString(), not_after: new Date(noon + 86_400_000).toISOString() },
      }
      await peer.send('gap_receipt', { receipt: await peer.sign('gap-receipt', canonicalJson(receipt)), padding: '' })
    },
    quarantined: ['REFUSED forbidden'],
  },
]

export const keyAttacks = [...keySetAttacks, ...acknowledgementAttacks]
