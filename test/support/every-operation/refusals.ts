// How each declared refusal that the walk does not show is brought about: the last answer is the refusal.
import { readEvents } from '../event-reader.ts'
import type { Heard } from '../http-exchange.ts'
import { approvalOf, expired, handsIn, requestOf, stranger } from '../quarantine-people.ts'
import { backupRefusals } from './backup-refusals.ts'
import { hubRefusals } from './hub-refusals.ts'
import { intakeRefusals } from './intake-refusals.ts'
import { intelligenceRefusals } from './intelligence-refusals.ts'
import { oneWay } from './one-way-refusals.ts'
import { resolutionRefusals } from './resolution-refusals.ts'
import { signers } from './signers.ts'
import { cleared, contribution, emitted, invitation, label, policy, type Stage, sessionInput } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>
type Fields = Readonly<Record<string, unknown>>

const matchSessions = '/api/v2/consensus/match_session'

function matchSession(digit: string) {
  const { classification: _level, ...asked } = sessionInput()
  const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1' }
  return { ...asked, id: `ses_${digit.repeat(32)}`, tenant_id: 'alpha', label, subject }
}

const sessions = '/api/v2/consensus/session'

function post({ site, admin }: Stage, path: string, body: unknown, more: { token?: string; key?: string } = {}) {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (more.key !== undefined) headers['idempotency-key'] = more.key
  const role = path.startsWith('/api/v2/site/') ? 'site' : 'consensus'
  return site.ask(role, { method: 'POST', path, token: more.token ?? admin, headers, body: JSON.stringify(body) })
}

async function newSession(stage: Stage, more: Fields = {}): Promise<string> {
  return ((await post(stage, sessions, sessionInput(more))).json as { id: string }).id
}

/** The session after these scores of alice, bob and carol. */
async function scored(stage: Stage, scores: readonly number[], more: Fields = {}): Promise<string> {
  const id = await newSession(stage, more)
  for (const [at, score] of scores.entries()) {
    await post(stage, `${sessions}/${id}/contribution`, contribution(['alice', 'bob', 'carol'][at] ?? '', score))
  }
  return id
}

const outgoing = { event_id: 'refused', kind: 'signal', schema: 'sample/1', body: {}, label, parent_block_ids: [] }

/** A statement above the ceiling of its channel. */
const tooHigh = { label: { ...label, level: 'TOP_SECRET' } }

const site: Record<string, Refusal> = {
  async 'site.token.issue rate_limited'(stage) {
    const body = 'grant_type=client_credentials&client_id=guessed&client_secret=wrong'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const guess = () => stage.site.ask('site', { method: 'POST', path: '/oauth2/token', headers, body })
    // Twenty, and however many are forgiven meanwhile.
    let answer = await guess()
    for (let n = 0; n < 60 && answer.status === 401; n += 1) answer = await guess()
    return answer
  },
  'site.message.send not_found': (stage) => post(stage, '/api/v2/site/message', { ...outgoing, peer: 'nobody' }),
  'site.message.send label_denied': (stage) =>
    post(stage, '/api/v2/site/message', { ...outgoing, peer: 'bravo', label: { ...label, level: 'TOP_SECRET' } }),
  async 'site.message.verify signature_invalid'(stage) {
    const envelope = await stage.site.bravo.sign('statement', new TextEncoder().encode('{}'))
    return post(stage, '/api/v2/site/message/verify', { peer: 'bravo', type: 'evidence', envelope })
  },
  async 'site.message.verify label_denied'(stage) {
    const { envelope } = await stage.delivered('result', { session_id: 'ses_nowhere' }, tooHigh)
    return post(stage, '/api/v2/site/message/verify', { peer: 'bravo', type: 'statement', envelope })
  },
  async 'site.quarantine.request signature_invalid'(stage) {
    const lying = await expired(stage.site)
    const signature = await (await stranger(stage.site, 'ada')).sign(requestOf(lying, 'ada'))
    return handsIn(stage.site, 'request', lying.item, signature, 'ada')
  },
  async 'site.quarantine.request conflict'(stage) {
    const lying = await expired(stage.site)
    const signature = await (await signers(stage)).ada.sign(requestOf(lying, 'ada', { waiver: 'QUOTA' }))
    return handsIn(stage.site, 'request', lying.item, signature, 'ada')
  },
  async 'site.quarantine.approve signature_invalid'(stage) {
    const lying = await expired(stage.site)
    const asked = requestOf(lying, 'bob')
    const signature = await (await stranger(stage.site, 'ada')).sign(approvalOf(asked, 'ada'))
    return handsIn(stage.site, 'approve', lying.item, signature, 'ada')
  },
  async 'site.quarantine.approve conflict'(stage) {
    const lying = await expired(stage.site)
    const signature = await (await signers(stage)).ada.sign(approvalOf(requestOf(lying, 'bob'), 'ada'))
    return handsIn(stage.site, 'approve', lying.item, signature, 'ada')
  },
  async 'site.checkpoint.create conflict'(stage) {
    const head = { writer: 'cut@elsewhere', hash: 'b'.repeat(64) }
    await post(stage, '/api/v2/site/checkpoint', { ...head, seq: 9 })
    return post(stage, '/api/v2/site/checkpoint', { ...head, seq: 8 })
  },
}

const session: Record<string, Refusal> = {
  'consensus.session.open label_denied': async (stage) =>
    post(stage, matchSessions, matchSession('1'), { token: await stage.site.token({ roles: ['admin'] }) }),
  async 'consensus.session.open idempotency_mismatch'(stage) {
    await post(stage, matchSessions, matchSession('2'))
    return post(stage, matchSessions, { ...matchSession('2'), lens_version: '2' })
  },
  async 'consensus.session.open not_found'(stage) {
    await post(stage, matchSessions, matchSession('3'))
    const token = await stage.site.token({ roles: ['admin'] })
    return post(stage, matchSessions, { ...matchSession('3'), label: { ...label, level: 'UNCLASSIFIED' } }, { token })
  },
  'consensus.session.open not_your_tenant': async (stage) =>
    post(stage, matchSessions, { ...matchSession('4'), tenant_id: 'bravo' }),
  'consensus.session.create label_denied': async (stage) =>
    post(stage, sessions, sessionInput(), { token: await stage.site.token({ roles: ['admin'] }) }),
  async 'consensus.session.create not_found'(stage) {
    await post(stage, sessions, sessionInput(), { key: 'seen-by-the-cleared' })
    const token = await stage.site.token({ roles: ['admin'] })
    return post(stage, sessions, sessionInput({ classification: 'UNCLASSIFIED' }), {
      key: 'seen-by-the-cleared',
      token,
    })
  },
  'consensus.session.contribute not_contributor': async (stage) =>
    post(stage, `${sessions}/${await newSession(stage)}/contribution`, contribution('mallory', 1)),
  'consensus.session.contribute session_closed': async (stage) =>
    post(stage, `${sessions}/${stage.ratified}/contribution`, contribution('carol', 1)),
  async 'consensus.session.contribute quorum_full'(stage) {
    return post(stage, `${sessions}/${await scored(stage, [1, 0])}/contribution`, contribution('carol', 1))
  },
  async 'consensus.session.contribute label_denied'(stage) {
    const token = await stage.site.token({ roles: ['admin'] })
    return post(stage, `${sessions}/${stage.openToo}/contribution`, contribution('alice', 1), { token })
  },
  async 'consensus.session.events rate_limited'(stage) {
    const token = await stage.site.token({ sub: 'many', roles: ['admin'], ...cleared })
    const path = `${sessions}/${stage.open}/events`
    const url = `http://127.0.0.1:${stage.site.port('consensus')}`
    const readers = await Promise.all(Array.from({ length: 32 }, () => readEvents(url, path, token)))
    const answer = await stage.site.ask('consensus', { method: 'GET', path, token })
    for (const reader of readers) reader.leave()
    return answer
  },
  'consensus.session.resolve session_closed': (stage) => post(stage, `${sessions}/${stage.ratified}/resolve`, {}),
  'consensus.session.attest session_closed': (stage) =>
    post(stage, `${sessions}/${stage.ratified}/attest`, { decision: 'match', rationale: 'late' }),
  async 'consensus.session.cancel session_closed'(stage) {
    const path = `${sessions}/${await newSession(stage)}/cancel`
    await post(stage, path, {})
    return post(stage, path, {})
  },
}

const opinion = { pair_score: 1, accuracy: 0.9, credibility: 0.9, classification: label }

type Kind = 'contribution' | 'invitation' | 'result' | 'lens_emission'

async function deliver(stage: Stage, kind: Kind, fields: Fields, change: Fields = {}, more: { token?: string } = {}) {
  return post(stage, `/api/v2/federation/${kind}`, await stage.delivered(kind, fields, change), more)
}

/** The honest envelope with the body of another message. */
async function tampered(stage: Stage, kind: Kind, fields: Fields, change: Fields) {
  const { body } = await stage.delivered(kind, { ...fields, ...change })
  return post(stage, `/api/v2/federation/${kind}`, { ...(await stage.delivered(kind, fields)), body })
}

const federation: Record<string, Refusal> = {
  'consensus.federation.contribute not_found': (stage) =>
    deliver(stage, 'contribution', { session_id: 'ses_nowhere', ...opinion }),
  'consensus.federation.contribute signature_invalid': (stage) =>
    tampered(stage, 'contribution', { session_id: stage.shared, ...opinion }, { pair_score: 0 }),
  async 'consensus.federation.contribute not_contributor'(stage) {
    return deliver(stage, 'contribution', { session_id: await newSession(stage), ...opinion })
  },
  'consensus.federation.contribute session_closed': (stage) =>
    deliver(stage, 'contribution', { session_id: stage.followed, ...opinion }, { receiver_tenant_id: 'alpha' }),
  async 'consensus.federation.contribute quorum_full'(stage) {
    return deliver(stage, 'contribution', {
      session_id: await scored(stage, [1, 0], { invite: ['bravo'] }),
      ...opinion,
    })
  },
  async 'consensus.federation.contribute label_denied'(stage) {
    const session_id = await newSession(stage, { invite: ['bravo'], policy: { ...policy, m: 3, n: 3 } })
    return deliver(stage, 'contribution', { session_id, ...opinion, classification: { ...label, policy: 'FOREIGN' } })
  },
  async 'consensus.federation.contribute idempotency_mismatch'(stage) {
    const session_id = await newSession(stage, { invite: ['bravo'], policy: { ...policy, m: 3, n: 3 } })
    const msg_id = `msg_${'1'.repeat(32)}`
    await deliver(stage, 'contribution', { session_id, ...opinion }, { msg_id })
    return deliver(stage, 'contribution', { session_id, ...opinion, pair_score: 0 }, { msg_id })
  },
  'consensus.federation.invite signature_invalid': (stage) =>
    tampered(stage, 'invitation', invitation('ses_tampered'), { lens_version: '2' }),
  'consensus.federation.invite not_your_tenant': (stage) =>
    deliver(stage, 'invitation', invitation('ses_elsewhere'), { receiver_tenant_id: 'charlie' }),
  'consensus.federation.invite already_exists': (stage) => deliver(stage, 'invitation', invitation(stage.open)),
  'consensus.federation.invite label_denied': (stage) =>
    deliver(stage, 'invitation', invitation('ses_too_high'), tooHigh),
  'consensus.federation.result label_denied': (stage) =>
    deliver(stage, 'result', { session_id: stage.followed }, tooHigh),
  'consensus.federation.result not_found': (stage) => deliver(stage, 'result', { session_id: 'ses_nowhere' }),
  'consensus.federation.result signature_invalid': (stage) =>
    tampered(stage, 'result', { session_id: stage.followed }, { session_id: stage.open }),
}

/** What bravo told in the stage, told again and otherwise. */
const retold = (stage: Stage, more: Fields, change: Fields = {}, by: { token?: string } = {}) =>
  deliver(stage, 'lens_emission', emitted('ses_told', more), change, by)

const emission: Record<string, Refusal> = {
  async 'consensus.federation.emission not_found'(stage) {
    return retold(stage, {}, {}, { token: await stage.site.token({ roles: ['admin'] }) })
  },
  'consensus.federation.emission signature_invalid': (stage) =>
    tampered(stage, 'lens_emission', emitted('ses_tampered'), { decision: 'non_match' }),
  'consensus.federation.emission not_your_tenant': (stage) => retold(stage, {}, { receiver_tenant_id: 'charlie' }),
  'consensus.federation.emission session_closed': (stage) => retold(stage, { seq: 6 }),
  'consensus.federation.emission label_denied': (stage) => retold(stage, {}, tooHigh),
  'consensus.federation.emission idempotency_mismatch': (stage) => retold(stage, { decision: 'non_match' }),
}

/** `<address> <code>` to what brings it about. */
export const refusals: Readonly<Record<string, Refusal>> = {
  ...site,
  ...backupRefusals,
  ...oneWay,
  ...session,
  ...federation,
  ...emission,
  ...hubRefusals,
  ...resolutionRefusals,
  ...intelligenceRefusals,
  ...intakeRefusals,
}
