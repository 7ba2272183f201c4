// Scenarios for declared refusals of exchanges between sites that the walk does not cover.
import { canonicalDigest, sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { newJob } from '../../../daemon/kernel/job/rules.ts'
import { exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { type OperationFixture, secretLabel, topSecretClearance } from './operation-fixture.ts'
import { tokenFor } from './post-request.ts'
import { buildBravoProposal, buildLens, buildProposalInput, sampleData } from './resolution-objects.ts'

export type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

export function postToResolution(
  stage: OperationFixture,
  path: string,
  body: unknown,
  token = tokenFor(stage, path),
  key?: string,
): Promise<ExactResponse> {
  const headers = { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) }
  return stage.site.request('resolution', {
    method: 'POST',
    path: `/api/v2${path}`,
    token,
    headers,
    body: JSON.stringify(body),
  })
}

export const createUnclearedToken = ({ site }: OperationFixture) => site.token({ roles: ['admin'] })

/** A statement above the ceiling of its channel. */
const labelAboveCeiling = { label: { ...secretLabel, level: 'TOP_SECRET' } }

/** Bravo says this, in a statement of which `change` replaces parts. */
export async function sendExchangeMessage(
  stage: OperationFixture,
  data: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> = {},
) {
  return await postToResolution(stage, '/federation/resolution', await stage.signMessage('resolution', data, change))
}

let proposalCount = 0
export const nextExchangeId = () => `xchg_${sha256(`proposal ${++proposalCount}`).slice(0, 32)}`

async function buildPiece(stage: OperationFixture, exchange_id: string): Promise<Readonly<Record<string, unknown>>> {
  const found = await stage.site.request('resolution', {
    method: 'GET',
    path: `/api/v2/fusion/exchange/${exchange_id}`,
    token: stage.admin,
  })
  const { agreement } = found.json as { agreement?: unknown }
  const about = { exchange_id, agreement_digest: agreement ? canonicalDigest(agreement) : '0'.repeat(64) }
  return { say: 'piece', ...about, round: 'points', number: 0, of: 1, items: 1, data: 'A'.repeat(43) }
}

export const exchangeRefusals: Record<string, RefusalScenario> = {
  'resolution.exchange.propose not_found': (stage) =>
    postToResolution(stage, '/fusion/exchange', buildProposalInput({ lens_id: 'nobody-made-this' })),
  'resolution.exchange.propose not_your_tenant': async (stage) => {
    const token = await stage.site.token({ tenant_id: 'bravo', roles: ['admin'], ...topSecretClearance })
    return postToResolution(stage, '/fusion/exchange', buildProposalInput(), token)
  },
  'resolution.exchange.propose label_denied': async (stage) => {
    await postToResolution(stage, '/lens', { body: buildLens('9.0.0') })
    return postToResolution(
      stage,
      '/fusion/exchange',
      buildProposalInput({ lens_version: '9.0.0' }),
      await createUnclearedToken(stage),
    )
  },
  'resolution.exchange.propose over_budget': (stage) =>
    postToResolution(stage, '/fusion/exchange', buildProposalInput({ privacy: 'none', max_set_bytes: 4_294_967_296 })),
  'resolution.exchange.propose rate_limited': async (stage) => {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    const open = await store?.get(exchanges, stage.resolution.exchange)
    const ids = Array.from({ length: 100 }, nextExchangeId)
    const value = open && { ...open.value, state: 'proposed' as const, ...newJob(undefined, undefined) }
    for (const id of ids) if (value) await store?.create(exchanges, id, value)
    const heard = await postToResolution(stage, '/fusion/exchange', buildProposalInput())
    for (const id of ids) await store?.remove(exchanges, id)
    return heard
  },
  'resolution.exchange.agree wrong_state': (stage) =>
    postToResolution(stage, `/fusion/exchange/${stage.resolution.exchange}/agree`, { data: sampleData }),
  // The lens sees more than the proposal may carry.
  async 'resolution.exchange.agree label_denied'(stage) {
    const body = buildLens('9.1.0')
    await postToResolution(stage, '/lens', {
      body,
      classification: { level: 'TOP_SECRET', releasable_to: ['alpha', 'bravo'] },
    })
    const uid = nextExchangeId()
    await sendExchangeMessage(
      stage,
      buildBravoProposal(uid, { lens_version: '9.1.0', lens_digest: canonicalDigest(lens.parse(body)) }),
    )
    return postToResolution(stage, `/fusion/exchange/${uid}/agree`, { data: sampleData })
  },
  async 'resolution.exchange.agree over_budget'(stage) {
    const agreed = async () => {
      const uid = nextExchangeId()
      await sendExchangeMessage(stage, buildBravoProposal(uid, { max_set_size: 1_000_000 }, 1_000_000))
      return postToResolution(stage, `/fusion/exchange/${uid}/agree`, { data: sampleData })
    }
    await agreed()
    return agreed()
  },
  async 'resolution.exchange.cancel wrong_state'(stage) {
    const { uid } = (await postToResolution(stage, '/fusion/exchange', buildProposalInput())).json as { uid: string }
    const cancel = () =>
      stage.site.request('resolution', { method: 'DELETE', path: `/api/v2/fusion/exchange/${uid}`, token: stage.admin })
    await cancel()
    return cancel()
  },
  'resolution.exchange.receive not_found': async (stage) =>
    sendExchangeMessage(stage, await buildPiece(stage, nextExchangeId())),
  'resolution.exchange.receive signature_invalid': async (stage) => {
    const message = await stage.signMessage('resolution', buildBravoProposal(nextExchangeId()))
    return postToResolution(stage, '/federation/resolution', {
      ...message,
      body: Buffer.from('{}').toString('base64url'),
    })
  },
  'resolution.exchange.receive not_your_tenant': (stage) =>
    sendExchangeMessage(stage, buildBravoProposal(nextExchangeId()), { receiver_tenant_id: 'charlie' }),
  'resolution.exchange.receive label_denied': (stage) =>
    sendExchangeMessage(stage, buildBravoProposal(nextExchangeId()), labelAboveCeiling),
  async 'resolution.exchange.receive already_exists'(stage) {
    const proposal = buildBravoProposal(nextExchangeId())
    await sendExchangeMessage(stage, proposal)
    return sendExchangeMessage(stage, { ...proposal, agreement: { ...proposal.agreement, seed: 2 } })
  },
  async 'resolution.exchange.receive over_budget'(stage) {
    for (;;) {
      const heard = await sendExchangeMessage(stage, buildBravoProposal(nextExchangeId()))
      if (heard.status !== 200) return heard
    }
  },
}
