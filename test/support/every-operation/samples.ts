// One good request for each operation that needs more than its address: the only thing that a new operation must add here.

import { approvalOf, expired, handsIn, requestOf } from '../quarantine-people.ts'
import { clientSecret } from '../small-site.ts'
import { begunSet } from './begun-set.ts'
import { announced, delta, firstKeySet, frozenPeer, gapReceipt, toldByBravo, toldByDelta } from './carried.ts'
import { intelligence } from './intelligence-samples.ts'
import { resolution } from './resolution-samples.ts'
import { signers } from './signers.ts'
import { contribution, emitted, invitation, label, registration, type Stage, sessionInput } from './stage.ts'

export type Sample = {
  readonly input: Record<string, unknown>
  /** For operations that honour an Idempotency-Key: a request to repeat, and what makes it another one. */
  readonly keyed?: { readonly input: Record<string, unknown>; readonly another: Record<string, unknown> }
  /** What a caller without clearance may say, where the sample itself is above it. */
  readonly uncleared?: Record<string, unknown>
  /** The operation reads or changes a tenant's object; true for every path parameter unless said otherwise. */
  readonly isTenants?: boolean
}

/** A message of one byte in each file. */
export const mail = { epoch: 1, seq: 1, envelope: 'AA==', body: 'AA==' }

export function statusEvent(event_id: string) {
  return { event_id, session_id: 'ses_1', lens_id: 'lens', state: 'RATIFIED', at: '2026-03-02T12:00:00.000Z' }
}

export type Samples = Readonly<Record<string, (stage: Stage) => Sample | Promise<Sample>>>

function itemOf({ item }: { readonly item: string }) {
  const [peer, id] = item.split('/')
  return { peer, id }
}

const share = ({ site }: Stage): Sample => {
  const set = '2026-05-03T03-00-00-000Z'
  begunSet(site.folder, set)
  return { input: { set } }
}

const site: Samples = {
  'site.service.backup': share,
  'site.token.issue': () => ({
    input: { grant_type: 'client_credentials', client_id: 'gateway', client_secret: clientSecret },
  }),
  'site.token.revoke': () => ({ input: { jti: 'tok_of_nobody', reason: 'sample' } }),
  // Peers are the site's, not a tenant's; and an unknown peer is an answer (not allowed), not an error.
  'site.peer.crossing': () => ({ input: { name: 'bravo', label }, isTenants: false }),
  'site.message.send': () => ({
    input: {
      peer: 'bravo',
      event_id: 'sample',
      kind: 'signal',
      schema: 'sample/1',
      body: {},
      label,
      parent_block_ids: [],
    },
  }),
  'site.message.verify': async ({ delivered }) => {
    const { envelope } = await delivered('result', { session_id: 'ses_of_a_sample' })
    return { input: { peer: 'bravo', type: 'statement', envelope } }
  },
  // What lies in quarantine is the site's, too.
  'site.quarantine.get': async ({ site: at }) => ({ input: itemOf(await expired(at)), isTenants: false }),
  'site.quarantine.request': async (stage) => {
    const lying = await expired(stage.site)
    const { ada } = await signers(stage)
    return { input: { ...itemOf(lying), signature: await ada.sign(requestOf(lying, 'ada')) }, isTenants: false }
  },
  'site.quarantine.approve': async (stage) => {
    const lying = await expired(stage.site)
    const { ada, bob } = await signers(stage)
    const asked = requestOf(lying, 'bob')
    await handsIn(stage.site, 'request', lying.item, await bob.sign(asked), 'bob')
    return { input: { ...itemOf(lying), signature: await ada.sign(approvalOf(asked, 'ada')) }, isTenants: false }
  },
  'site.keyset.take': async (stage) => ({ input: await toldByDelta(stage, await firstKeySet(await delta(stage))) }),
  'site.peerhead.take': async (stage) => ({ input: await toldByBravo(stage) }),
  'site.channel.unfreeze': async (stage) => ({
    input: { peer: await frozenPeer(stage), reason: 'sample' },
    isTenants: false,
  }),
  'site.message.resend': () => ({ input: { peer: 'bravo', first: 1, last: 1 } }),
  'site.gap.receipt': () => ({ input: { peer: 'bravo' } }),
  'site.gap.resend': async (stage) => ({ input: { receipt: await gapReceipt(stage) } }),
  'site.epoch.draft': () => ({ input: { peer: 'bravo' } }),
  'site.epoch.open': async (stage) => ({ input: { announcement: await announced(stage) } }),
  'site.message.purge': () => ({ input: { digest: 'f'.repeat(96), reason: 'sample' } }),
  'site.coalition.tell': () => ({ input: { ...statusEvent('site'), label } }),
  'site.signature.create': () => ({ input: { type: 'evidence', payload: 'e30' } }),
  'site.checkpoint.create': () => ({ input: { writer: 'someone@elsewhere', seq: 7, hash: 'a'.repeat(64) } }),
}

const consensus: Samples = {
  'consensus.service.backup': share,
  'consensus.session.create': () => ({
    input: sessionInput(),
    keyed: { input: sessionInput(), another: { lens_version: '2' } },
  }),
  'consensus.session.open': () => {
    const { classification: _level, ...asked } = sessionInput()
    const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1' }
    return { input: { ...asked, id: `ses_${'d'.repeat(32)}`, tenant_id: 'alpha', label, subject } }
  },
  'consensus.session.get': ({ open }) => ({ input: { id: open } }),
  'consensus.session.contribute': ({ open, openToo }) => ({
    input: { id: open, ...contribution('alice', 1) },
    keyed: { input: { id: openToo, ...contribution('alice', 1) }, another: { pair_score: 0.5 } },
    uncleared: { classification: 'UNCLASSIFIED' },
  }),
  'consensus.session.resolve': ({ open }) => ({ input: { id: open } }),
  'consensus.session.attest': ({ conflict, conflictToo }) => ({
    input: { id: conflict, decision: 'match', rationale: 'seen by two' },
    keyed: {
      input: { id: conflictToo, decision: 'match', rationale: 'seen by two' },
      another: { rationale: 'on second thoughts' },
    },
  }),
  'consensus.session.cancel': ({ doomed }) => ({ input: { id: doomed } }),
  'consensus.session.events': ({ open }) => ({ input: { id: open } }),
  'consensus.contribution.list': ({ ratified }) => ({ input: { id: ratified } }),
  'consensus.dissent.get': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.dissent.by-session': ({ conflict }) => ({ input: { session_id: conflict } }),
  'consensus.dissent.explain': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.evidence.get': ({ evidence }) => ({ input: { block_id: evidence } }),
  'consensus.emission.get': ({ emission }) => ({ input: { id: emission } }),
  'consensus.federation.contribute': async ({ shared, delivered }) => ({
    input: await delivered('contribution', {
      session_id: shared,
      pair_score: 1,
      accuracy: 0.9,
      credibility: 0.9,
      classification: label,
    }),
    isTenants: true,
  }),
  // Makes an object of the tenant that the signed message names.
  'consensus.federation.invite': async ({ delivered }) => ({
    input: await delivered('invitation', invitation('ses_of_a_sample')),
  }),
  'consensus.federation.result': async ({ followed, delivered }) => ({
    input: await delivered('result', { session_id: followed }),
    isTenants: true,
  }),
  // Makes an object of the tenant that the signed message names.
  'consensus.federation.emission': async ({ delivered }) => ({
    input: await delivered('lens_emission', emitted('ses_of_a_sample')),
  }),
}

/** Nodes are their subjects' own, in whatever tenant: test/roles/hub/nodes.test.ts shows who else is refused, and how. */
const asNode =
  (input: Record<string, unknown> = {}) =>
  (): Sample => ({ input: { id: 'alpha', ...input }, isTenants: false })

const hub: Samples = {
  'hub.service.backup': share,
  'hub.node.register': asNode(registration),
  'hub.node.heartbeat': asNode(),
  'hub.node.get': asNode(),
  'hub.capability.publish': asNode({ hosts: [], accepts: [] }),
  'hub.feed.publish': asNode(statusEvent('hub')),
  'hub.message.deliver': asNode({ from: 'alpha', ...mail }),
  'hub.message.list': asNode({ from: 'alpha' }),
  'hub.message.acknowledge': asNode({ messages: ['mail_of_nobody'] }),
  'hub.message.events': asNode(),
}

export const samples: Samples = {
  ...{ ...site, ...consensus, ...hub, ...resolution, ...intelligence },
  'resolution.service.backup': share,
  'intelligence.service.backup': share,
  'proxy.service.backup': share,
}
