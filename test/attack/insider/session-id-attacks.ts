// An insider and the ids of sessions: one form, and each site in a part of its own.
import { buildInvitation, type InsiderAttack } from './insider-attack.ts'

const ids: readonly [string, string][] = [
  ['that is empty', ''],
  ['that is too short', 'ses_1'],
  ['in capitals', `ses_${'A'.repeat(32)}`],
  ['of another kind of object', `dis_${'0'.repeat(32)}`],
  ['that is a path', '../../keys/root'],
  ['of 128 characters', 'x'.repeat(128)],
  ['with a line break behind it', `ses_${'0'.repeat(32)}\n`],
  ['with the name of another peer behind it', `ses_${'0'.repeat(32)}@charlie`],
]

export const sessionIdAttacks: readonly InsiderAttack[] = [
  {
    name: 'invites to a session under the id of one that the honest site hosts',
    act: ({ peer, bystander_session }) => peer.send('invitation', buildInvitation(peer, bystander_session)),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'takes an id that only the honest site makes, before it does',
    act: ({ peer, bystander_session }) =>
      peer.send('invitation', buildInvitation(peer, bystander_session.replace(/.{8}$/, '00000000'))),
    quarantined: ['REFUSED invalid'],
  },
  ...ids.map(
    ([what, id]): InsiderAttack => ({
      name: `invites to a session under an id ${what}`,
      act: ({ peer }) => peer.send('invitation', buildInvitation(peer, id)),
      quarantined: ['REFUSED invalid'],
    }),
  ),
]
