// Refusals of messages between sites: invitations, contributions, results and emissions.
import { openDeltaSite, signBravoInventory, signDeltaKeysMessage, signFirstKeySet } from './carried-messages.ts'
import { buildPeerPart } from './ingest-samples.ts'
import { peerSignal } from './intelligence-objects.ts'
import {
  buildEmission,
  buildInvitation,
  buildSessionInput,
  type OperationFixture,
  secretLabel,
  sessionPolicy,
  topSecretClearance,
} from './operation-fixture.ts'
import { postRequest, sessions } from './post-request.ts'
import {
  createScoredSession,
  createSession,
  deliverMessage,
  deliverTampered,
  labelAboveCeiling,
  type RefusalScenario,
  type RequestFields,
} from './session-requests.ts'

export const opinion = { pair_score: 1, accuracy: 0.9, credibility: 0.9, classification: secretLabel }

/** Brings a message by REST, as somebody without the clearance for it. */
function bringUncleared(
  role: 'consensus' | 'ingest' | 'intelligence' | 'site',
  path: string,
  sign: (stage: OperationFixture) => Promise<unknown>,
): RefusalScenario {
  return async (stage) => {
    const token = await stage.site.token({ roles: ['admin'] })
    return stage.site.request(role, { method: 'POST', path, token, body: await sign(stage) })
  }
}

const signSignal = (stage: OperationFixture) => stage.signMessage('signal', peerSignal)
const signKeys = async (stage: OperationFixture) =>
  signDeltaKeysMessage(stage, await signFirstKeySet(await openDeltaSite(stage)))

export const federationRefusals: Record<string, RefusalScenario> = {
  'consensus.federation.invite not_found': bringUncleared('consensus', '/api/v2/federation/invitation', (stage) =>
    stage.signMessage('invitation', buildInvitation('ses_efea021327f02529dc2329f8bcf2b3e5')),
  ),
  'consensus.federation.emission not_found': bringUncleared('consensus', '/api/v2/federation/lens_emission', (stage) =>
    stage.signMessage('lens_emission', buildEmission('ses_efea021327f02529dc2329f8bcf2b3e5')),
  ),
  'intelligence.federation.signal not_found': bringUncleared('intelligence', '/api/v1/federation/signal', signSignal),
  'ingest.federation.dataset not_found': bringUncleared('ingest', '/api/v2/federation/dataset', (stage) =>
    stage.signMessage('dataset', buildPeerPart('b')),
  ),
  'site.keyset.take not_found': bringUncleared('site', '/api/v2/site/keyset', signKeys),
  'site.peerhead.take not_found': bringUncleared('site', '/api/v2/site/peerhead', signBravoInventory),
  'site.message.land signature_invalid': async (stage) => {
    const message = await stage.signMessage('contribution', { session_id: stage.shared, ...opinion }, { src: 'nobody' })
    return postRequest(stage, '/api/v2/site/message/land', message)
  },
  'consensus.session.create not_your_tenant': async (stage) => {
    const token = await stage.site.token({ tenant_id: 'bravo', roles: ['admin'], ...topSecretClearance })
    return postRequest(stage, sessions, buildSessionInput({ invite: ['bravo'] }), { token })
  },
  'consensus.federation.contribute not_found': (stage) =>
    deliverMessage(stage, 'contribution', { session_id: 'ses_49476051ead117ac072617404ea6531d', ...opinion }),
  'consensus.federation.contribute signature_invalid': (stage) =>
    deliverTampered(stage, 'contribution', { session_id: stage.shared, ...opinion }, { pair_score: 0 }),
  async 'consensus.federation.contribute not_contributor'(stage) {
    return deliverMessage(stage, 'contribution', { session_id: await createSession(stage), ...opinion })
  },
  'consensus.federation.contribute session_closed': (stage) =>
    deliverMessage(stage, 'contribution', { session_id: stage.followed, ...opinion }, { receiver_tenant_id: 'alpha' }),
  async 'consensus.federation.contribute quorum_full'(stage) {
    return deliverMessage(stage, 'contribution', {
      session_id: await createScoredSession(stage, [1, 0], { invite: ['bravo'] }),
      ...opinion,
    })
  },
  async 'consensus.federation.contribute label_denied'(stage) {
    const session_id = await createSession(stage, { invite: ['bravo'], policy: { ...sessionPolicy, m: 3, n: 3 } })
    return deliverMessage(stage, 'contribution', {
      session_id,
      ...opinion,
      classification: { ...secretLabel, policy: 'FOREIGN' },
    })
  },
  async 'consensus.federation.contribute idempotency_mismatch'(stage) {
    const session_id = await createSession(stage, { invite: ['bravo'], policy: { ...sessionPolicy, m: 3, n: 3 } })
    const msg_id = `msg_${'1'.repeat(32)}`
    await deliverMessage(stage, 'contribution', { session_id, ...opinion }, { msg_id })
    return deliverMessage(stage, 'contribution', { session_id, ...opinion, pair_score: 0 }, { msg_id })
  },
  'consensus.federation.invite signature_invalid': (stage) =>
    deliverTampered(stage, 'invitation', buildInvitation('ses_4aa2f44ad25333b202e215c5fe846e1d'), {
      lens_version: '2',
    }),
  'consensus.federation.invite not_your_tenant': (stage) =>
    deliverMessage(stage, 'invitation', buildInvitation('ses_efea021327f02529dc2329f8bcf2b3e4'), {
      receiver_tenant_id: 'charlie',
    }),
  // Bravo is the tenant of the peer of that name.
  'consensus.contributor.set already_exists': (stage) =>
    stage.site.request('consensus', {
      method: 'PUT',
      path: '/api/v2/consensus/contributor/bravo',
      token: stage.admin,
      body: { signer_keys: ['bravo-1'] },
    }),
  'consensus.federation.invite already_exists': (stage) =>
    deliverMessage(stage, 'invitation', { ...buildInvitation(stage.followed), lens_version: '2' }),
  'consensus.federation.invite label_denied': (stage) =>
    deliverMessage(stage, 'invitation', buildInvitation('ses_c124aa714370c7bfe17004917d5cda32'), labelAboveCeiling),
  'consensus.federation.result label_denied': (stage) =>
    deliverMessage(stage, 'result', { session_id: stage.followed }, labelAboveCeiling),
  'consensus.federation.result not_found': (stage) =>
    deliverMessage(stage, 'result', { session_id: 'ses_49476051ead117ac072617404ea6531d' }),
  async 'consensus.federation.result result_invalid'(stage) {
    const session_id = `ses_${'9'.repeat(32)}`
    await deliverMessage(stage, 'invitation', buildInvitation(session_id))
    return deliverMessage(stage, 'result', { session_id, evidence: {} })
  },
  'consensus.federation.result signature_invalid': (stage) =>
    deliverTampered(stage, 'result', { session_id: stage.followed }, { session_id: stage.open }),
}

/** Sends the fixture's emission of bravo again, with other fields. */
export const redeliverEmission = (stage: OperationFixture, more: RequestFields, change: RequestFields = {}) =>
  deliverMessage(stage, 'lens_emission', buildEmission('ses_bba2cf1bb3aaa221574da9af651c0130', more), change)

export const emissionRefusals: Record<string, RefusalScenario> = {
  'consensus.federation.emission signature_invalid': (stage) =>
    deliverTampered(stage, 'lens_emission', buildEmission('ses_4aa2f44ad25333b202e215c5fe846e1d'), {
      decision: 'non_match',
    }),
  'consensus.federation.emission not_your_tenant': (stage) =>
    redeliverEmission(stage, {}, { receiver_tenant_id: 'charlie' }),
  'consensus.federation.emission session_closed': (stage) => redeliverEmission(stage, { seq: 6 }),
  'consensus.federation.emission label_denied': (stage) => redeliverEmission(stage, {}, labelAboveCeiling),
  'consensus.federation.emission idempotency_mismatch': (stage) => redeliverEmission(stage, { decision: 'non_match' }),
}
