// One good request for each operation that needs more than its address: the only thing that a new operation must add here.

import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { siteClientSecret } from '../site/single-cluster-site.ts'
import { createBackupJob } from './backup-refusals.ts'
import { beginBackupSet } from './begin-backup-set.ts'
import {
  freezePeer,
  openDeltaSite,
  signBravoInventory,
  signDeltaKeysMessage,
  signEpochAnnouncement,
  signFirstKeySet,
  signGapReceipt,
} from './carried-messages.ts'
import { contributorSamples } from './contributor-samples.ts'
import { effectSamples } from './effect-samples.ts'
import { enrolSigners } from './enrol-signers.ts'
import { gatewaySamples } from './gateway-samples.ts'
import { guidanceSamples } from './guidance-samples.ts'
import { guidanceSetSamples } from './guidance-set-samples.ts'
import { guideArtifactSamples } from './guide-artifact-samples.ts'
import { guideSamples } from './guide-samples.ts'
import { ingestSamples } from './ingest-samples.ts'
import { intelligenceSamples } from './intelligence-samples.ts'
import {
  buildContribution,
  buildEmission,
  buildInvitation,
  buildSessionInput,
  nodeRegistration,
  type OperationFixture,
  secretLabel,
} from './operation-fixture.ts'
import { quarantineSamples } from './quarantine-samples.ts'
import { resolutionSamples } from './resolution-samples.ts'

export type OperationSample = {
  readonly input: Record<string, unknown>
  /** For operations that honour an Idempotency-Key: a request to repeat, and what makes it another one. */
  readonly keyed?: { readonly input: Record<string, unknown>; readonly another: Record<string, unknown> }
  /** Input of a caller without clearance, where the sample itself is above it. */
  readonly uncleared?: Record<string, unknown>
  /** The operation reads or changes a tenant's object; true for every path parameter by default. */
  readonly isTenants?: boolean
}

/** A message of one byte in each file. */
export const sampleMail = { epoch: 1, seq: 1, envelope: 'AA==', body: 'AA==' }

export function buildStatusEvent(event_id: string) {
  return { event_id, session_id: 'ses_1', lens_id: 'lens', state: 'RATIFIED', at: '2026-03-02T12:00:00.000Z' }
}

export type OperationSamples = Readonly<
  Record<string, (stage: OperationFixture) => OperationSample | Promise<OperationSample>>
>

const shareSample = ({ site }: OperationFixture): OperationSample => {
  const set = '2026-05-03T03-00-00-000Z'
  beginBackupSet(site.folder, set)
  return { input: { set } }
}

async function openedDataKeySample({ site, service: token }: OperationFixture): Promise<OperationSample> {
  const collection = 'fusion_exchange'
  const body = JSON.stringify({ collection })
  const headers = { 'content-type': 'application/json' }
  const { text } = await site.request('site', { method: 'POST', path: '/api/v2/site/data-key', token, headers, body })
  const { id, wrapping_key, wrapped } = JSON.parse(text)
  return { input: { collection, id, wrapping_key, wrapped } }
}

/** Backups are the site's, not a tenant's. */
const backupJobSample = async (stage: OperationFixture): Promise<OperationSample> => ({
  input: { id: await createBackupJob(stage) },
  isTenants: false,
})

const siteSamples: OperationSamples = {
  'site.service.backup': shareSample,
  'site.service.backup-job': backupJobSample,
  'site.service.cancel-backup-job': backupJobSample,
  'site.token.issue': () => ({
    input: { grant_type: 'client_credentials', client_id: 'gateway', client_secret: siteClientSecret },
  }),
  'site.data-key.create': () => ({ input: { collection: 'fusion_exchange' } }),
  'site.data-key.open': openedDataKeySample,
  'site.token.revoke': () => ({ input: { jti: 'tok_of_nobody', reason: 'sample' } }),
  // Peers are the site's, not a tenant's; and an unknown peer is an answer (not allowed), not an error.
  'site.peer.crossing': () => ({ input: { name: 'bravo', label: secretLabel }, isTenants: false }),
  'site.message.send': () => ({
    input: {
      peer: 'bravo',
      event_id: 'sample',
      kind: 'signal',
      schema: 'sample/1',
      body: {},
      label: secretLabel,
      parent_block_ids: [],
    },
  }),
  'site.message.verify': async ({ signMessage }) => {
    const { envelope } = await signMessage('result', { session_id: 'ses_6f034a7c4e93cfab030b822f32a80cb0' })
    return { input: { peer: 'bravo', type: 'statement', envelope } }
  },
  ...quarantineSamples,
  // The channel is the site's, whichever tenant the message names.
  'site.message.land': async ({ signMessage }) => ({
    input: await signMessage('result', { session_id: 'ses_6f034a7c4e93cfab030b822f32a80cb0' }),
    isTenants: false,
  }),
  'site.keyset.take': async (stage) => ({
    input: await signDeltaKeysMessage(stage, await signFirstKeySet(await openDeltaSite(stage))),
  }),
  'site.peerhead.take': async (stage) => ({ input: await signBravoInventory(stage) }),
  'site.channel.unfreeze': async (stage) => ({
    input: { peer: await freezePeer(stage), reason: 'sample' },
    isTenants: false,
  }),
  'site.message.resend': () => ({ input: { peer: 'bravo', first: 1, last: 1 } }),
  'site.message.list': () => ({ input: { peer: 'bravo' }, isTenants: false }),
  'site.message.discard': () => ({ input: { peer: 'bravo', first: 1, last: 1, reason: 'sample' } }),
  'site.gap.skip': () => ({ input: { peer: 'bravo', first: 1, last: 1, reason: 'sample' } }),
  'site.gap.receipt': () => ({ input: { peer: 'bravo' } }),
  'site.gap.resend': async (stage) => ({ input: { receipt: await signGapReceipt(stage) } }),
  'site.epoch.draft': () => ({ input: { peer: 'bravo' } }),
  'site.epoch.open': async (stage) => ({ input: { announcement: await signEpochAnnouncement(stage) } }),
  'site.message.purge': () => ({ input: { digest: 'f'.repeat(96), reason: 'sample' } }),
  'site.coalition.publish': () => ({ input: { ...buildStatusEvent('site'), label: secretLabel } }),
  'site.signature.create': () => ({ input: { type: 'registry', payload: 'e30' } }),
  'site.signature.verify': async (stage) => {
    const { key } = (await enrolSigners(stage)).ada
    const envelope = await signWithKeys([key], 'contribution', Buffer.from('{}'))
    return { input: { subjects: ['ada'], created: new Date().toISOString(), envelope } }
  },
  'site.delegation.grant': ({ admin }) => ({
    input: { subject_token: admin, work: { collection: 'fusion_run', id: 'run_1' } },
  }),
  'site.delegation.principal': ({ admin }) => ({ input: { subject_token: admin } }),
  'site.delegation.token': ({ admin }) => ({
    input: { subject_token: admin, audience: { role: 'consensus' } },
  }),
  'site.checkpoint.create': () => ({ input: { writer: 'someone@elsewhere', seq: 7, hash: 'a'.repeat(64) } }),
}

const consensusSamples: OperationSamples = {
  'consensus.service.backup': shareSample,
  'consensus.session.create': () => ({
    input: buildSessionInput(),
    keyed: { input: buildSessionInput(), another: { lens_version: '2' } },
  }),
  'consensus.session.open': () => {
    const { classification: _level, ...input } = buildSessionInput()
    const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1' }
    return { input: { ...input, id: `ses_${'d'.repeat(32)}`, tenant_id: 'alpha', label: secretLabel, subject } }
  },
  'consensus.session.get': ({ open }) => ({ input: { id: open } }),
  'consensus.session.contribute': ({ open, openToo }) => ({
    input: { id: open, ...buildContribution('alice', 1) },
    keyed: { input: { id: openToo, ...buildContribution('alice', 1) }, another: { pair_score: 0.5 } },
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
  'consensus.session.cancel': ({ toCancel }) => ({ input: { id: toCancel } }),
  'consensus.session.events': ({ open }) => ({ input: { id: open } }),
  'consensus.contribution.list': ({ ratified }) => ({ input: { id: ratified } }),
  'consensus.dissent.get': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.dissent.by-session': ({ conflict }) => ({ input: { session_id: conflict } }),
  'consensus.dissent.explain': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.evidence.get': ({ evidence }) => ({ input: { block_id: evidence } }),
  'consensus.emission.get': ({ emission }) => ({ input: { id: emission } }),
  ...contributorSamples,
  'consensus.federation.contribute': async ({ shared, signMessage }) => ({
    input: await signMessage('contribution', {
      session_id: shared,
      pair_score: 1,
      accuracy: 0.9,
      credibility: 0.9,
      classification: secretLabel,
    }),
    isTenants: true,
  }),
  // Makes an object of the tenant that the signed message names.
  'consensus.federation.invite': async ({ signMessage }) => ({
    input: await signMessage('invitation', buildInvitation('ses_6f034a7c4e93cfab030b822f32a80cb0')),
  }),
  'consensus.federation.result': async ({ followed, signMessage }) => ({
    input: await signMessage('result', { session_id: followed }),
    isTenants: true,
  }),
  // Makes an object of the tenant that the signed message names.
  'consensus.federation.emission': async ({ signMessage }) => ({
    input: await signMessage('lens_emission', buildEmission('ses_6f034a7c4e93cfab030b822f32a80cb0')),
  }),
}

/** Nodes belong to their subjects, in any tenant: test/roles/hub/nodes.test.ts shows the other refusals. */
const buildNodeSample =
  (input: Record<string, unknown> = {}) =>
  (): OperationSample => ({ input: { id: 'alpha', ...input }, isTenants: false })

const hubSamples: OperationSamples = {
  'hub.service.backup': shareSample,
  'edge.service.backup': shareSample,
  'hub.node.register': buildNodeSample(nodeRegistration),
  'hub.node.heartbeat': buildNodeSample(),
  'hub.node.get': buildNodeSample(),
  'hub.capability.publish': buildNodeSample({ hosts: [], accepts: [] }),
  'hub.feed.publish': buildNodeSample(buildStatusEvent('hub')),
  'hub.message.deliver': buildNodeSample({ from: 'alpha', ...sampleMail }),
  'hub.message.list': buildNodeSample({ from: 'alpha' }),
  'hub.message.acknowledge': buildNodeSample({ messages: ['mail_of_nobody'] }),
  'hub.message.events': buildNodeSample(),
}

export const operationSamples: OperationSamples = {
  ...{ ...siteSamples, ...consensusSamples, ...hubSamples, ...resolutionSamples, ...ingestSamples, ...effectSamples },
  ...intelligenceSamples,
  ...gatewaySamples,
  ...guideSamples,
  ...guideArtifactSamples,
  ...guidanceSetSamples,
  ...guidanceSamples,
  'resolution.service.backup': shareSample,
  'ingest.service.backup': shareSample,
  'intelligence.service.backup': shareSample,
  'proxy.service.backup': shareSample,
  'gateway.service.backup': shareSample,
}
