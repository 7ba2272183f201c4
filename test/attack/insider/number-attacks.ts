// An insider and the numbers, chains and times of its messages.
import { messageKinds } from '../../../daemon/message-kinds.ts'
import {
  buildInvitation,
  buildOpinion,
  contributeWith,
  formatDays,
  type InsiderAttack,
  nextSessionId,
} from './insider-attack.ts'

/** A second message under the number of the first, which the site has applied. */
const equivocations: readonly InsiderAttack[] = messageKinds.names.map((kind) => ({
  name: `signs a second message under one number: ${kind}`,
  act: ({ peer }) => peer.send(kind, {}, { seq: 1 }),
  quarantined: ['EQUIVOCATION'],
  isFrozen: true,
  alarms: ['site filedrop.channel.equivocation'],
}))

export const numberAttacks: readonly InsiderAttack[] = [
  ...equivocations,
  {
    name: 'signs the same content again under one number, with another id',
    act: (stage) => stage.peer.send('contribution', buildOpinion(stage, stage.session), { seq: 1 }),
    quarantined: ['EQUIVOCATION'],
    isFrozen: true,
    alarms: ['site filedrop.channel.equivocation'],
  },
  {
    name: 'denies a message by another first message of the epoch',
    act: contributeWith({ statement: { prev: 'a'.repeat(96) } }),
    quarantined: ['CHAIN_BREAK'],
  },
  {
    name: 'skips more than a million numbers',
    act: contributeWith({ seq: 2 ** 20 + 2 }),
    quarantined: ['FAST_FORWARD'],
  },
  {
    name: 'takes the highest number that there is',
    act: contributeWith({ seq: Number.MAX_SAFE_INTEGER }),
    quarantined: ['FAST_FORWARD'],
  },
  {
    name: 'leaves a gap by design',
    act: async ({ peer }) => {
      peer.skip(1)
      await peer.send('invitation', buildInvitation(peer, nextSessionId()))
    },
    alarms: ['site filedrop.gap.found'],
  },
  {
    name: 'signs a message in the far future',
    act: contributeWith({ statement: { created: formatDays(30), not_after: formatDays(31) } }),
    quarantined: ['FUTURE'],
  },
  {
    name: 'signs a message that ended before it was made',
    act: contributeWith({ statement: { created: formatDays(0), not_after: formatDays(-1) } }),
    quarantined: ['EXPIRED'],
  },
  {
    name: 'grants its message ten years, and more than enrolment does',
    act: contributeWith({ statement: { created: formatDays(-8), not_after: formatDays(3_650) } }),
    quarantined: ['EXPIRED'],
  },
  {
    name: 'writes a time that is none',
    act: contributeWith({ statement: { created: '2026-02-30T12:00:00Z' } }),
    quarantined: ['SCHEMA'],
  },
  {
    name: 'claims a version of the statement that nobody has published',
    act: contributeWith({ statement: { v: 99 } }),
    quarantined: ['TYPE'],
  },
  {
    name: 'adds a member to the statement',
    act: contributeWith({ statement: { via: 'charlie' } }),
    quarantined: ['UNKNOWN_FIELD'],
  },
  {
    name: 'invents a kind of message',
    act: contributeWith({ statement: { kind: 'gossip' } }),
    quarantined: ['TYPE'],
  },
  {
    name: 'names a thousand parents',
    act: contributeWith({
      statement: { parent_block_ids: Array.from({ length: 200 }, (_, at) => String(at).padStart(64, '0')) },
    }),
    quarantined: ['SCHEMA'],
  },
  {
    name: 'names its files after another number than it signed',
    act: contributeWith({ stem: '00000001-0000000000000007' }),
    quarantined: ['NAME'],
  },
]
