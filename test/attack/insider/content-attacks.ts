// An insider and the labels, addresses and texts of its messages.
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { bodyLimits } from '../../../daemon/kernel/messaging/body-limits.ts'
import {
  buildInvitation,
  contributeWith,
  type InsiderAttack,
  type InsiderStage,
  nextSessionId,
} from './insider-attack.ts'

const contributeUnder = (label: Partial<Label>) => (stage: InsiderStage) =>
  contributeWith({ label: { ...stage.peer.label, ...label } })(stage)

const labelAttacks: readonly InsiderAttack[] = [
  { name: 'sends above the ceiling', act: contributeUnder({ level: 'TOP_SECRET' }), quarantined: ['LABEL_DENIED'] },
  {
    name: 'sends in a category that it was not granted',
    act: contributeUnder({ categories: ['ZULU'] }),
    quarantined: ['LABEL_DENIED'],
  },
  {
    name: 'sends under a policy that nobody maps',
    act: contributeUnder({ policy: 'NATO' }),
    quarantined: ['LABEL_DENIED'],
  },
  {
    name: 'sends what is not released to the receiver',
    act: contributeUnder({ releasable_to: ['tenant-charlie'] }),
    quarantined: ['LABEL_DENIED'],
  },
  { name: 'invents a level', act: contributeUnder({ level: 'COSMIC' }), quarantined: ['LABEL_DENIED'] },
  {
    name: 'writes a level in small letters',
    act: contributeUnder({ level: 'restricted' }),
    quarantined: ['LABEL_DENIED'],
  },
  {
    name: 'adds a member to the label',
    act: contributeUnder({ handling: 'none' } as Partial<Label>),
    quarantined: ['LABEL_DENIED'],
  },
  {
    name: 'signs a lower label in the statement than in the body',
    act: (stage) => contributeWith({ statement: { label: { ...stage.peer.label, level: 'UNCLASSIFIED' } } })(stage),
    quarantined: ['LABEL_DENIED'],
  },
  {
    name: 'leaves the label out of the statement',
    act: contributeWith({ statement: { label: undefined } }),
    quarantined: ['LABEL_MISSING'],
  },
  {
    name: 'leaves the label out of the body',
    act: contributeWith({ rewrite: (text) => text.replace(/"label":\{[^}]*\},/, '') }),
    quarantined: ['LABEL_MISSING'],
  },
  {
    name: 'carries a classification above the label of the message',
    act: (stage) => contributeWith({}, { classification: { ...stage.peer.label, level: 'SECRET' } })(stage),
    quarantined: ['REFUSED label_denied'],
  },
  {
    name: 'carries a classification that hides the session from those whom the message is released to',
    act: (stage) =>
      contributeWith({}, { classification: { ...stage.peer.label, releasable_to: ['tenant-charlie'] } })(stage),
    quarantined: ['REFUSED label_denied'],
  },
  {
    name: 'invites into a session above the label of the message',
    act: async ({ peer }) =>
      peer.send('invitation', {
        ...buildInvitation(peer, nextSessionId()),
        classification: { ...peer.label, level: 'SECRET' },
      }),
    quarantined: ['REFUSED label_denied'],
  },
]

const addressAttacks: readonly InsiderAttack[] = [
  {
    name: 'sends in the name of another tenant',
    act: contributeWith({ statement: { sender_tenant_id: 'tenant-charlie' } }),
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'sends in the name of the receiver’s tenant',
    act: contributeWith({ statement: { sender_tenant_id: 'tenant-a' } }),
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'sends in the name of another site',
    act: contributeWith({ statement: { src: 'charlie' } }),
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'sends on the channel of another peer',
    act: contributeWith({ statement: { channel: 'filedrop/charlie/alpha' } }),
    quarantined: ['WRONG_CHANNEL'],
  },
  {
    name: 'sends to another tenant of the receiver',
    act: contributeWith({ statement: { receiver_tenant_id: 'tenant-b' } }),
    quarantined: ['WRONG_DST'],
  },
  {
    name: 'sends to every tenant of the receiver',
    act: contributeWith({ statement: { receiver_tenant_id: '*' } }),
    quarantined: ['WRONG_DST'],
  },
  { name: 'sends to another site', act: contributeWith({ statement: { dst: 'charlie' } }), quarantined: ['WRONG_DST'] },
]

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const textAttacks: readonly InsiderAttack[] = [
  {
    name: 'signs a body with a key twice',
    act: contributeWith({ rewrite: (text) => text.replace('"pair_score":0.9', '"pair_score":0.9,"pair_score":0.1') }),
    quarantined: ['DUP_KEY'],
  },
  {
    name: 'signs a body with a key twice, once escaped',
    act: contributeWith({
      rewrite: (text) => text.replace('"pair_score":0.9', '"pair_score":0.9,"pair_\\u0073core":0.1'),
    }),
    quarantined: ['DUP_KEY'],
  },
  {
    name: 'signs a score beyond all numbers',
    act: contributeWith({ rewrite: (text) => text.replace('"pair_score":0.9', '"pair_score":1e999') }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'signs half of a surrogate pair',
    act: contributeWith({ rewrite: (text) => text.replace('"session_id":"', '"session_id":"\\ud800') }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'signs a control character',
    act: contributeWith({ rewrite: (text) => text.replace('"session_id":"', '"session_id":"\u0000') }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'signs a member named __proto__',
    act: contributeWith({
      rewrite: (text) => text.replace('"accuracy":1', '"accuracy":1,"__proto__":{"credibility":1}'),
    }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'nests arrays to the last byte of a body',
    act: contributeWith({ rewrite: (text) => text.replace('"accuracy":1', `"accuracy":${deep(2_090_000)}`) }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'fills a body with a million members',
    act: contributeWith({
      rewrite: (text) => text.replace('"accuracy":1', `"accuracy":1,"x":[${'0,'.repeat(2_000_000)}0]`),
    }),
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'fills a body with as many empty lists as are allowed, and one',
    act: contributeWith({
      rewrite: (text) => text.replace('"accuracy":1', `"accuracy":1,"x":[${'[],'.repeat(bodyLimits.max_values)}[]]`),
    }),
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'gives each member of a body a name of its own',
    act: contributeWith({
      rewrite: (text) => text.replace('"accuracy":1', Array.from({ length: 200_000 }, (_, at) => `"n${at}":1`).join()),
    }),
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'fills a body with as many wrong members as are allowed',
    act: contributeWith({ rewrite: (text) => text.replace('"accuracy":1', `"accuracy":[${'0,'.repeat(39_900)}0]`) }),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'signs a body that is larger than any',
    act: contributeWith({ rewrite: (text) => text + ' '.repeat(4_194_304) }),
    quarantined: ['TOO_LARGE'],
  },
  {
    name: 'signs a text in place of an object',
    act: contributeWith({ rewrite: () => '"text"' }),
    quarantined: ['SCHEMA'],
  },
  {
    name: 'signs another schema in the body than in the statement',
    act: contributeWith({ rewrite: (text) => text.replace('consensus.contribution/1', 'consensus.contribution/9') }),
    quarantined: ['SCHEMA'],
  },
]

const scores: readonly [string, unknown][] = [
  ['above one', 1.000_000_1],
  ['below nothing', -0.000_000_1],
  ['that is a text', '0.9'],
  ['that is missing', null],
  ['that is a list', [0.9]],
]

const opinionAttacks: readonly InsiderAttack[] = scores.map(([what, pair_score]) => ({
  name: `gives a score ${what}`,
  act: contributeWith({}, { pair_score }),
  quarantined: ['REFUSED invalid'],
}))

export const contentAttacks = [...labelAttacks, ...addressAttacks, ...textAttacks, ...opinionAttacks]
