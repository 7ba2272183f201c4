// An insider and what it reports: signals, and exchanges of records.
import {
  computeAgreementDigest,
  type ExchangeAgreement,
} from '../../../daemon/roles/resolution/exchange/agreement/agreement.ts'
import type { InsiderAttack, InsiderStage } from './insider-attack.ts'
import type { InsiderPeer } from './insider-peer.ts'

const buildSignal = (more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ event_id: 'ev-1', signal_type: 'watchlist_hit', severity: 'high', title: 'Aurora seen at anchor' },
  ...{ subject: { type: 'asset', id: 'ship-1', name: 'Aurora' }, source: { type: 'computed', name: 'detector' } },
  ...{ detected_at: '2026-03-02T11:00:00.000Z', ...more },
})

const sendSignal =
  (...changes: readonly Readonly<Record<string, unknown>>[]) =>
  async ({ peer }: InsiderStage) => {
    for (const change of changes) await peer.send('signal', buildSignal(change))
  }

const invalid = ['REFUSED invalid']

const signalAttacks: readonly InsiderAttack[] = [
  {
    name: 'raises a signal in the name of a person',
    act: sendSignal({ actor: { type: 'person', id: 'ann' } }),
    quarantined: invalid,
  },
  {
    name: 'raises a signal in the name of another origin',
    act: sendSignal({ origin: 'peer:charlie' }),
    quarantined: invalid,
  },
  { name: 'raises a signal in another tenant', act: sendSignal({ tenant_id: 'tenant-b' }), quarantined: invalid },
  { name: 'chooses the uid of a signal', act: sendSignal({ uid: 'sig_1' }), quarantined: invalid },
  { name: 'closes a signal while it raises it', act: sendSignal({ status: 'closed' }), quarantined: invalid },
  {
    name: 'changes a signal under its id',
    act: sendSignal({}, { title: 'Nothing to see' }),
    quarantined: ['REFUSED idempotency_mismatch'],
  },
  {
    name: 'raises a signal with a severity of its own',
    act: sendSignal({ severity: 'apocalyptic' }),
    quarantined: invalid,
  },
  { name: 'raises a signal without a subject', act: sendSignal({ subject: undefined }), quarantined: invalid },
  {
    name: 'raises a signal with a title of a megabyte',
    act: sendSignal({ title: 'x'.repeat(1_000_000) }),
    quarantined: invalid,
  },
  {
    name: 'raises a signal with metadata that is nested deep',
    act: sendSignal({ metadata: { deep: JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) } }),
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'names the schema of a signal that nobody has published',
    act: ({ peer }) => peer.send('signal', buildSignal(), { body: { schema: 'signal/9' } }),
    quarantined: invalid,
  },
]

let agreementCount = 0

function buildAgreement({ name }: InsiderPeer, more: Partial<ExchangeAgreement> = {}): ExchangeAgreement {
  agreementCount += 1
  return {
    ...{ exchange_id: `xchg_${String(agreementCount).padStart(32, '0')}`, lens: 'people', lens_version: '1.0.0' },
    ...{ lens_digest: 'a'.repeat(64), parties: [name, 'alpha'], fields: ['given_name'], privacy: 'psi' },
    ...{
      learns: ['alpha', name],
      accept_dictionary_risk: false,
      max_set_size: 100,
      max_set_bytes: 1_000_000,
      seed: 1,
      text_form: 2,
    },
    ...more,
  }
}

const propose =
  (more: (stage: InsiderStage) => Partial<ExchangeAgreement>, size = 3) =>
  async (stage: InsiderStage) => {
    const { peer } = stage
    const agreement = buildAgreement(peer, more(stage))
    await peer.send('resolution', { say: 'proposal', agreement, classification: peer.label, size })
    return agreement
  }

const refer = (agreement: ExchangeAgreement) => ({
  exchange_id: agreement.exchange_id,
  agreement_digest: computeAgreementDigest(agreement),
})

const buildPiece = (agreement: ExchangeAgreement, more = {}) => ({
  ...{ say: 'piece', ...refer(agreement), round: 'points', number: 0, of: 1, items: 1, data: 'A'.repeat(43), ...more },
})

const proposals: readonly InsiderAttack[] = [
  {
    name: 'proposes an exchange between others',
    act: propose(() => ({ parties: ['charlie', 'alpha'] })),
    quarantined: invalid,
  },
  {
    name: 'proposes an exchange with itself',
    act: propose(({ peer }) => ({ parties: [peer.name, peer.name] as never })),
    quarantined: invalid,
  },
  {
    name: 'proposes that a site learns which has no part',
    act: propose(() => ({ learns: ['charlie'] })),
    quarantined: invalid,
  },
  {
    name: 'proposes more records than its agreement allows',
    act: propose(() => ({ max_set_size: 2 })),
    quarantined: invalid,
  },
  { name: 'proposes a set of no size that a set can have', act: propose(() => ({}), -1), quarantined: invalid },
  {
    name: 'proposes an exchange under an id that is no id',
    act: propose(() => ({ exchange_id: '../../keys' })),
    quarantined: invalid,
  },
  {
    name: 'proposes other terms under an id that is taken',
    act: async (stage) => {
      const { exchange_id } = await propose(() => ({}))(stage)
      await propose(() => ({ exchange_id, seed: 2 }))(stage)
    },
    quarantined: ['REFUSED already_exists'],
  },
  {
    name: 'proposes more exchanges than it may in a day',
    act: async (stage) => {
      for (let count = 0; count < 5; count++) await propose(() => ({}))(stage)
    },
    quarantined: ['REFUSED over_budget', 'REFUSED over_budget'],
  },
]

const pieces: readonly InsiderAttack[] = [
  {
    name: 'sends a piece of an exchange that nobody proposed',
    act: ({ peer }) => peer.send('resolution', buildPiece(buildAgreement(peer))),
    quarantined: ['REFUSED not_found'],
  },
  {
    name: 'sends a piece before a person has agreed',
    act: async (stage) => stage.peer.send('resolution', buildPiece(await propose(() => ({}))(stage))),
    quarantined: invalid,
  },
  {
    name: 'ends an exchange of another peer',
    act: async (stage) => {
      const { peer, bystander } = stage
      const agreement = buildAgreement(bystander)
      await peer.send('resolution', { say: 'ended', ...refer(agreement), code: 'cancelled', reason: 'by me' })
    },
    quarantined: ['REFUSED not_found'],
  },
  {
    name: 'agrees to its own proposal in the name of the honest site',
    act: async (stage) =>
      stage.peer.send('resolution', { say: 'agreed', ...refer(await propose(() => ({}))(stage)), size: 3 }),
    quarantined: invalid,
  },
  {
    name: 'says what the protocol does not know',
    act: ({ peer }) => peer.send('resolution', { say: 'please', ...refer(buildAgreement(peer)) }),
    quarantined: invalid,
  },
  {
    name: 'sends a piece that is larger than a message',
    act: ({ peer }) => peer.send('resolution', buildPiece(buildAgreement(peer), { data: 'A'.repeat(2_800_004) })),
    quarantined: invalid,
  },
  {
    name: 'sends a piece of a hundred million items',
    act: ({ peer }) => peer.send('resolution', buildPiece(buildAgreement(peer), { items: 1e9, of: 1e9 })),
    quarantined: invalid,
  },
]

export const reportAttacks = [...signalAttacks, ...proposals, ...pieces]
