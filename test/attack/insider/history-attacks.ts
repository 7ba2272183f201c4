// An insider and what it says of its own history: epochs, inventories and heads of its audit chains.
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { buildOpinion, contributeWith, formatDays, type InsiderAttack, type InsiderStage } from './insider-attack.ts'
import type { InsiderPeer } from './insider-peer.ts'

/** The note that opens an epoch, in a message that stands first in it. */
function announce(
  change: Readonly<Record<string, unknown>>,
  by: (stage: InsiderStage) => [InsiderPeer, 'message' | 'root'],
) {
  return async (stage: InsiderStage) => {
    const { peer } = stage
    const note = {
      ...{ v: 1, type: 'platform.epoch', channel: `filedrop/${peer.name}/alpha`, src: peer.name, dst: 'alpha' },
      ...{ epoch: 2, reason: 'restored', created: formatDays(0), ...change },
    }
    const [signer, use] = by(stage)
    const epoch = await signer.sign('epoch', canonicalJson(note), use)
    return await peer.send('keys', { epoch }, { epoch: 2, seq: 1, statement: { prev: '0'.repeat(96) } })
  }
}
const byRoot = ({ peer }: InsiderStage): [InsiderPeer, 'root'] => [peer, 'root']

const epochAttacks: readonly InsiderAttack[] = [
  {
    name: 'sends in an epoch that nobody has announced',
    act: contributeWith({ epoch: 2, seq: 1 }),
    quarantined: ['FAST_FORWARD'],
  },
  {
    name: 'opens an epoch with a message key',
    act: announce({}, ({ peer }) => [peer, 'message']),
    quarantined: ['UNKNOWN_KEY'],
  },
  {
    name: 'opens an epoch with another peer’s root key',
    act: announce({}, ({ bystander }) => [bystander, 'root']),
    quarantined: ['UNKNOWN_KEY'],
  },
  {
    name: 'opens an epoch of another peer’s channel',
    act: announce({ channel: 'filedrop/charlie/alpha', src: 'charlie' }, byRoot),
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'opens an epoch towards another site',
    act: announce({ dst: 'charlie' }, byRoot),
    quarantined: ['WRONG_DST'],
  },
  { name: 'announces another epoch than it opens', act: announce({ epoch: 3 }, byRoot), quarantined: ['SCHEMA'] },
  {
    name: 'announces an epoch without a reason',
    act: announce({ reason: undefined }, byRoot),
    quarantined: ['SCHEMA'],
  },
  {
    name: 'announces the open epoch once more, in the middle of it',
    act: async (stage) => {
      const { peer } = stage
      const note = {
        ...{ v: 1, type: 'platform.epoch', channel: `filedrop/${peer.name}/alpha`, src: peer.name, dst: 'alpha' },
        ...{ epoch: 1, reason: 'restored', created: formatDays(0) },
      }
      await peer.send('keys', { epoch: await peer.sign('epoch', canonicalJson(note), 'root') })
    },
    quarantined: ['SCHEMA'],
  },
]

/** An inventory with lies in it; `digests` of what it sent by default. */
const takeInventory = (change: Readonly<Record<string, unknown>>) => (stage: InsiderStage) =>
  stage.peer.send('inventory', {
    epoch: 1,
    highest: 1,
    rolling: '0'.repeat(96),
    digests: [],
    checkpoints: [],
    ...change,
  })

const inventoryAttacks: readonly InsiderAttack[] = [
  {
    name: 'lists another message under a number that it has sent',
    act: async ({ peer }) => {
      const content = (digests: string[]) => ({
        epoch: 1,
        highest: 2,
        rolling: digests.at(-1),
        digests,
        checkpoints: [],
      })
      const second = await peer.send('keys', { keyset: await peer.sign('keyset', '{}', 'root') })
      await peer.send('inventory', content(['e'.repeat(96), second.digest]))
    },
    quarantined: ['EQUIVOCATION', 'REFUSED invalid'],
    isFrozen: true,
    alarms: ['site filedrop.channel.equivocation'],
  },
  { name: 'lists messages that it has not sent yet', act: takeInventory({ highest: 500 }), quarantined: ['SCHEMA'] },
  { name: 'lists fewer messages than it has sent', act: takeInventory({ highest: 0 }), quarantined: ['SCHEMA'] },
  {
    name: 'lists more digests than numbers',
    act: takeInventory({ digests: Array(9).fill('0'.repeat(96)) }),
    quarantined: ['SCHEMA'],
  },
  {
    name: 'lists a last message that it did not send',
    act: takeInventory({ rolling: 'd'.repeat(96) }),
    quarantined: ['SCHEMA'],
  },
  { name: 'lists the messages of another epoch', act: takeInventory({ epoch: 2 }), quarantined: ['SCHEMA'] },
  { name: 'adds a member to the inventory', act: takeInventory({ extra: 1 }), quarantined: ['UNKNOWN_FIELD'] },
]

/** A head of one of its audit chains. */
async function buildHead(peer: InsiderPeer, seq: number, letter: string, signer = peer, writer = `site@${peer.name}`) {
  const head = { writer, seq, hash: letter.repeat(64), at: formatDays(0) }
  return { ...head, signature: await signer.sign('checkpoint', canonicalJson(head)) }
}

/** Inventories one after the other, each with one head. */
const reportHeads =
  (...heads: readonly ((stage: InsiderStage) => ReturnType<typeof buildHead>)[]) =>
  async (stage: InsiderStage) => {
    const { peer } = stage
    let before = (await peer.send('contribution', buildOpinion(stage, stage.session))).digest
    for (const [at, head] of heads.entries()) {
      const highest = 2 + at
      const data = { epoch: 1, highest, rolling: before, digests: [], checkpoints: [await head(stage)] }
      before = (await peer.send('inventory', data)).digest
    }
  }

const headAttacks: readonly InsiderAttack[] = [
  {
    name: 'shortens its audit chain',
    act: reportHeads(
      ({ peer }) => buildHead(peer, 9, 'a'),
      ({ peer }) => buildHead(peer, 4, 'a'),
    ),
    alarms: ['site site.peerhead.contradict'],
  },
  {
    name: 'rewrites its audit chain',
    act: reportHeads(
      ({ peer }) => buildHead(peer, 9, 'a'),
      ({ peer }) => buildHead(peer, 9, 'b'),
    ),
    alarms: ['site site.peerhead.contradict'],
  },
  {
    name: 'reports a head of the honest site’s chain',
    act: reportHeads(({ peer }) => buildHead(peer, 9, 'a', peer, 'site@alpha')),
    alarms: ['site site.peerhead.unverified'],
  },
  {
    name: 'reports a head that another peer has signed',
    act: reportHeads(({ peer, bystander }) => buildHead(peer, 9, 'a', bystander)),
    alarms: ['site site.peerhead.unverified'],
  },
]

export const historyAttacks = [...epochAttacks, ...inventoryAttacks, ...headAttacks]
