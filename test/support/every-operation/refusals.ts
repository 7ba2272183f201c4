// A scenario for each declared refusal that the walk does not cover: its last response is the refusal.
import { openEventReader } from '../http/event-reader.ts'
import {
  buildDismissalRequest,
  buildReleaseApproval,
  buildReleaseRequest,
  createUnenrolledSigner,
  quarantineExpiredMessage,
  submitDismissal,
  submitSignature,
} from '../site/release-signers.ts'
import { backupRefusals } from './backup-refusals.ts'
import { effectRefusals } from './effect-refusals.ts'
import { enrolSigners } from './enrol-signers.ts'
import { emissionRefusals, federationRefusals } from './federation-refusals.ts'
import { gatewayRefusals } from './gateway-samples.ts'
import { guidanceRefusals } from './guidance-samples.ts'
import { guidanceSetRefusals } from './guidance-set-samples.ts'
import { guideArtifactRefusals } from './guide-artifact-samples.ts'
import { hubRefusals } from './hub-refusals.ts'
import { ingestRefusals } from './ingest-refusals.ts'
import { intakeRefusals } from './intake-refusals.ts'
import { intelligenceRefusals } from './intelligence-refusals.ts'
import { oneWayRefusals } from './one-way-refusals.ts'
import { buildContribution, buildSessionInput, secretLabel, topSecretClearance } from './operation-fixture.ts'
import { buildMatchSession, matchSessions, postRequest, sessions } from './post-request.ts'
import { resolutionRefusals } from './resolution-refusals.ts'
import { createScoredSession, createSession, labelAboveCeiling, type RefusalScenario } from './session-requests.ts'

const outgoingMessage = {
  event_id: 'refused',
  kind: 'signal',
  schema: 'sample/1',
  body: {},
  label: secretLabel,
  parent_block_ids: [],
}

const siteRefusals: Record<string, RefusalScenario> = {
  async 'site.token.issue rate_limited'(stage) {
    const body = 'grant_type=client_credentials&client_id=guessed&client_secret=wrong'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const guess = () => stage.site.request('site', { method: 'POST', path: '/oauth2/token', headers, body })
    // Twenty, and however many are forgiven meanwhile.
    let answer = await guess()
    for (let n = 0; n < 60 && answer.status === 401; n += 1) answer = await guess()
    return answer
  },
  'site.data-key.open not_found': (stage) =>
    postRequest(
      stage,
      '/api/v2/site/data-key/open',
      {
        collection: 'fusion_exchange',
        id: `dk_${'0'.repeat(32)}`,
        wrapping_key: `secret-${'A'.repeat(16)}`,
        wrapped: 'A'.repeat(80),
      },
      { token: stage.service },
    ),
  'site.message.send not_found': (stage) =>
    postRequest(stage, '/api/v2/site/message', { ...outgoingMessage, peer: 'nobody' }),
  'site.message.send label_denied': (stage) =>
    postRequest(stage, '/api/v2/site/message', {
      ...outgoingMessage,
      peer: 'bravo',
      label: { ...secretLabel, level: 'TOP_SECRET' },
    }),
  async 'site.message.verify signature_invalid'(stage) {
    const envelope = await stage.site.bravo.sign('statement', new TextEncoder().encode('{}'))
    return postRequest(stage, '/api/v2/site/message/verify', { peer: 'bravo', type: 'evidence', envelope })
  },
  async 'site.message.verify label_denied'(stage) {
    const { envelope } = await stage.signMessage(
      'result',
      { session_id: 'ses_49476051ead117ac072617404ea6531d' },
      labelAboveCeiling,
    )
    return postRequest(stage, '/api/v2/site/message/verify', { peer: 'bravo', type: 'statement', envelope })
  },
  async 'site.signature.verify signature_invalid'(stage) {
    const envelope = await stage.site.bravo.sign('evidence', new TextEncoder().encode('{}'))
    const created = new Date().toISOString()
    return postRequest(stage, '/api/v2/site/signature/verify', { subjects: ['ada'], created, envelope })
  },
  async 'site.quarantine.request signature_invalid'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const signature = await (await createUnenrolledSigner(stage.site, 'ada')).sign(buildReleaseRequest(lying, 'ada'))
    return submitSignature(stage.site, 'request', lying.item, signature, 'ada')
  },
  async 'site.quarantine.request conflict'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const signature = await (await enrolSigners(stage)).ada.sign(buildReleaseRequest(lying, 'ada', { waiver: 'QUOTA' }))
    return submitSignature(stage.site, 'request', lying.item, signature, 'ada')
  },
  async 'site.quarantine.approve signature_invalid'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const request = buildReleaseRequest(lying, 'bob')
    const signature = await (await createUnenrolledSigner(stage.site, 'ada')).sign(buildReleaseApproval(request, 'ada'))
    return submitSignature(stage.site, 'approve', lying.item, signature, 'ada')
  },
  async 'site.quarantine.approve conflict'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const signature = await (await enrolSigners(stage)).ada.sign(
      buildReleaseApproval(buildReleaseRequest(lying, 'bob'), 'ada'),
    )
    return submitSignature(stage.site, 'approve', lying.item, signature, 'ada')
  },
  async 'site.quarantine.dismiss signature_invalid'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const signature = await (await createUnenrolledSigner(stage.site, 'ada')).sign(buildDismissalRequest(lying, 'ada'))
    return submitDismissal(stage.site, lying.item, 'ada', signature)
  },
  async 'site.quarantine.dismiss conflict'(stage) {
    return submitDismissal(stage.site, (await quarantineExpiredMessage(stage.site)).item, 'ada')
  },
  async 'site.checkpoint.create conflict'(stage) {
    const head = { writer: 'cut@elsewhere', hash: 'b'.repeat(64) }
    await postRequest(stage, '/api/v2/site/checkpoint', { ...head, seq: 9 })
    return postRequest(stage, '/api/v2/site/checkpoint', { ...head, seq: 8 })
  },
}

const sessionRefusals: Record<string, RefusalScenario> = {
  'consensus.session.open label_denied': async (stage) =>
    postRequest(stage, matchSessions, buildMatchSession('1'), { token: await stage.site.token({ roles: ['admin'] }) }),
  async 'consensus.session.open idempotency_mismatch'(stage) {
    await postRequest(stage, matchSessions, buildMatchSession('2'))
    return postRequest(stage, matchSessions, { ...buildMatchSession('2'), lens_version: '2' })
  },
  async 'consensus.session.open not_found'(stage) {
    await postRequest(stage, matchSessions, buildMatchSession('3'))
    const token = await stage.site.token({ roles: ['admin'] })
    return postRequest(
      stage,
      matchSessions,
      { ...buildMatchSession('3'), label: { ...secretLabel, level: 'UNCLASSIFIED' } },
      { token },
    )
  },
  'consensus.session.open not_your_tenant': async (stage) =>
    postRequest(stage, matchSessions, { ...buildMatchSession('4'), tenant_id: 'bravo' }),
  'consensus.session.create label_denied': async (stage) =>
    postRequest(stage, sessions, buildSessionInput(), { token: await stage.site.token({ roles: ['admin'] }) }),
  async 'consensus.session.create not_found'(stage) {
    await postRequest(stage, sessions, buildSessionInput(), { key: 'seen-by-the-cleared' })
    const token = await stage.site.token({ roles: ['admin'] })
    return postRequest(stage, sessions, buildSessionInput({ classification: 'UNCLASSIFIED' }), {
      key: 'seen-by-the-cleared',
      token,
    })
  },
  async 'consensus.session.create wrong_state'(stage) {
    const supersedes = await createSession(stage)
    return postRequest(stage, sessions, buildSessionInput({ supersedes }))
  },
  async 'consensus.session.contribute signature_invalid'(stage) {
    const signature = { created: new Date().toISOString(), protected: 'e30', signature: 'AAAA' }
    const path = `${sessions}/${await createSession(stage)}/contribution`
    return postRequest(stage, path, { ...buildContribution('alice', 1), signature })
  },
  'consensus.session.contribute not_contributor': async (stage) =>
    postRequest(stage, `${sessions}/${await createSession(stage)}/contribution`, buildContribution('mallory', 1)),
  'consensus.session.contribute session_closed': async (stage) =>
    postRequest(stage, `${sessions}/${stage.ratified}/contribution`, buildContribution('carol', 1)),
  async 'consensus.session.contribute quorum_full'(stage) {
    return postRequest(
      stage,
      `${sessions}/${await createScoredSession(stage, [1, 0])}/contribution`,
      buildContribution('carol', 1),
    )
  },
  async 'consensus.session.contribute label_denied'(stage) {
    const token = await stage.site.token({ roles: ['admin'] })
    return postRequest(stage, `${sessions}/${stage.openToo}/contribution`, buildContribution('alice', 1), { token })
  },
  async 'consensus.session.events rate_limited'(stage) {
    const token = await stage.site.token({ sub: 'many', roles: ['admin'], ...topSecretClearance })
    const path = `${sessions}/${stage.open}/events`
    const url = `http://127.0.0.1:${stage.site.port('consensus')}`
    const readers = await Promise.all(Array.from({ length: 32 }, () => openEventReader(url, path, token)))
    const answer = await stage.site.request('consensus', { method: 'GET', path, token })
    for (const reader of readers) reader.close()
    return answer
  },
  'consensus.session.resolve session_closed': (stage) =>
    postRequest(stage, `${sessions}/${stage.ratified}/resolve`, {}),
  'consensus.session.attest session_closed': (stage) =>
    postRequest(stage, `${sessions}/${stage.ratified}/attest`, { decision: 'match', rationale: 'late' }),
  async 'consensus.session.cancel session_closed'(stage) {
    const path = `${sessions}/${await createSession(stage)}/cancel`
    await postRequest(stage, path, {})
    return postRequest(stage, path, {})
  },
}

/** `<address> <code>` to what brings it about. */
export const refusals: Readonly<Record<string, RefusalScenario>> = {
  ...siteRefusals,
  ...backupRefusals,
  ...oneWayRefusals,
  ...sessionRefusals,
  ...federationRefusals,
  ...emissionRefusals,
  ...hubRefusals,
  ...gatewayRefusals,
  ...guideArtifactRefusals,
  ...guidanceRefusals,
  ...guidanceSetRefusals,
  ...resolutionRefusals,
  ...ingestRefusals,
  ...effectRefusals,
  ...intelligenceRefusals,
  ...intakeRefusals,
}
