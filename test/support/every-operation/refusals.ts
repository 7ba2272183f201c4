// How each declared refusal that the walk does not show is brought about: the last answer is the refusal.
import { openEventReader } from '../http/event-reader.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import {
  buildReleaseApproval,
  buildReleaseRequest,
  createUnenrolledSigner,
  quarantineExpiredMessage,
  submitSignature,
} from '../site/release-signers.ts'
import { backupRefusals } from './backup-refusals.ts'
import { enrolSigners } from './enrol-signers.ts'
import { hubRefusals } from './hub-refusals.ts'
import { intakeRefusals } from './intake-refusals.ts'
import { intelligenceRefusals } from './intelligence-refusals.ts'
import { oneWayRefusals } from './one-way-refusals.ts'
import {
  buildContribution,
  buildEmission,
  buildInvitation,
  buildSessionInput,
  type OperationFixture,
  secretLabel,
  sessionPolicy,
  topSecretClearance,
} from './operation-fixture.ts'
import { resolutionRefusals } from './resolution-refusals.ts'

type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>
type RequestFields = Readonly<Record<string, unknown>>

const matchSessions = '/api/v2/consensus/match_session'

function buildMatchSession(digit: string) {
  const { classification: _level, ...asked } = buildSessionInput()
  const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1' }
  return { ...asked, id: `ses_${digit.repeat(32)}`, tenant_id: 'alpha', label: secretLabel, subject }
}

const sessions = '/api/v2/consensus/session'

function postRequest(
  { site, admin }: OperationFixture,
  path: string,
  body: unknown,
  more: { token?: string; key?: string } = {},
) {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (more.key !== undefined) headers['idempotency-key'] = more.key
  const role = path.startsWith('/api/v2/site/') ? 'site' : 'consensus'
  return site.request(role, { method: 'POST', path, token: more.token ?? admin, headers, body: JSON.stringify(body) })
}

async function createSession(stage: OperationFixture, more: RequestFields = {}): Promise<string> {
  return ((await postRequest(stage, sessions, buildSessionInput(more))).json as { id: string }).id
}

/** The session after these scores of alice, bob and carol. */
async function createScoredSession(
  stage: OperationFixture,
  scores: readonly number[],
  more: RequestFields = {},
): Promise<string> {
  const id = await createSession(stage, more)
  for (const [at, score] of scores.entries()) {
    await postRequest(
      stage,
      `${sessions}/${id}/contribution`,
      buildContribution(['alice', 'bob', 'carol'][at] ?? '', score),
    )
  }
  return id
}

const outgoingMessage = {
  event_id: 'refused',
  kind: 'signal',
  schema: 'sample/1',
  body: {},
  label: secretLabel,
  parent_block_ids: [],
}

/** A statement above the ceiling of its channel. */
const labelAboveCeiling = { label: { ...secretLabel, level: 'TOP_SECRET' } }

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
    const { envelope } = await stage.signMessage('result', { session_id: 'ses_nowhere' }, labelAboveCeiling)
    return postRequest(stage, '/api/v2/site/message/verify', { peer: 'bravo', type: 'statement', envelope })
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
    const asked = buildReleaseRequest(lying, 'bob')
    const signature = await (await createUnenrolledSigner(stage.site, 'ada')).sign(buildReleaseApproval(asked, 'ada'))
    return submitSignature(stage.site, 'approve', lying.item, signature, 'ada')
  },
  async 'site.quarantine.approve conflict'(stage) {
    const lying = await quarantineExpiredMessage(stage.site)
    const signature = await (await enrolSigners(stage)).ada.sign(
      buildReleaseApproval(buildReleaseRequest(lying, 'bob'), 'ada'),
    )
    return submitSignature(stage.site, 'approve', lying.item, signature, 'ada')
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

const opinion = { pair_score: 1, accuracy: 0.9, credibility: 0.9, classification: secretLabel }

type FederationKind = 'contribution' | 'invitation' | 'result' | 'lens_emission'

async function deliverMessage(
  stage: OperationFixture,
  kind: FederationKind,
  fields: RequestFields,
  change: RequestFields = {},
  more: { token?: string } = {},
) {
  return postRequest(stage, `/api/v2/federation/${kind}`, await stage.signMessage(kind, fields, change), more)
}

/** The honest envelope with the body of another message. */
async function deliverTampered(
  stage: OperationFixture,
  kind: FederationKind,
  fields: RequestFields,
  change: RequestFields,
) {
  const { body } = await stage.signMessage(kind, { ...fields, ...change })
  return postRequest(stage, `/api/v2/federation/${kind}`, { ...(await stage.signMessage(kind, fields)), body })
}

const federationRefusals: Record<string, RefusalScenario> = {
  'consensus.federation.contribute not_found': (stage) =>
    deliverMessage(stage, 'contribution', { session_id: 'ses_nowhere', ...opinion }),
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
    deliverTampered(stage, 'invitation', buildInvitation('ses_tampered'), { lens_version: '2' }),
  'consensus.federation.invite not_your_tenant': (stage) =>
    deliverMessage(stage, 'invitation', buildInvitation('ses_elsewhere'), { receiver_tenant_id: 'charlie' }),
  'consensus.federation.invite already_exists': (stage) =>
    deliverMessage(stage, 'invitation', buildInvitation(stage.open)),
  'consensus.federation.invite label_denied': (stage) =>
    deliverMessage(stage, 'invitation', buildInvitation('ses_too_high'), labelAboveCeiling),
  'consensus.federation.result label_denied': (stage) =>
    deliverMessage(stage, 'result', { session_id: stage.followed }, labelAboveCeiling),
  'consensus.federation.result not_found': (stage) => deliverMessage(stage, 'result', { session_id: 'ses_nowhere' }),
  'consensus.federation.result signature_invalid': (stage) =>
    deliverTampered(stage, 'result', { session_id: stage.followed }, { session_id: stage.open }),
}

/** What bravo told in the stage, told again and otherwise. */
const redeliverEmission = (
  stage: OperationFixture,
  more: RequestFields,
  change: RequestFields = {},
  by: { token?: string } = {},
) => deliverMessage(stage, 'lens_emission', buildEmission('ses_told', more), change, by)

const emissionRefusals: Record<string, RefusalScenario> = {
  async 'consensus.federation.emission not_found'(stage) {
    return redeliverEmission(stage, {}, {}, { token: await stage.site.token({ roles: ['admin'] }) })
  },
  'consensus.federation.emission signature_invalid': (stage) =>
    deliverTampered(stage, 'lens_emission', buildEmission('ses_tampered'), { decision: 'non_match' }),
  'consensus.federation.emission not_your_tenant': (stage) =>
    redeliverEmission(stage, {}, { receiver_tenant_id: 'charlie' }),
  'consensus.federation.emission session_closed': (stage) => redeliverEmission(stage, { seq: 6 }),
  'consensus.federation.emission label_denied': (stage) => redeliverEmission(stage, {}, labelAboveCeiling),
  'consensus.federation.emission idempotency_mismatch': (stage) => redeliverEmission(stage, { decision: 'non_match' }),
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
  ...resolutionRefusals,
  ...intelligenceRefusals,
  ...intakeRefusals,
}
