// How the declared refusals of exchanges between sites are brought about that the walk does not show.
import { digestOf, sha256 } from '../../../daemon/kernel/canonical.ts'
import { exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { Heard } from '../http-exchange.ts'
import { bravosProposal, sampleData, sampleLens, sampleProposal } from './resolution-objects.ts'
import { label, type Stage } from './stage.ts'

export type Refusal = (stage: Stage) => Promise<Heard>

export function post({ site, admin }: Stage, path: string, body: unknown, token = admin, key?: string): Promise<Heard> {
  const headers = { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) }
  return site.ask('resolution', { method: 'POST', path: `/api/v2${path}`, token, headers, body: JSON.stringify(body) })
}

export const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

/** A statement above the ceiling of its channel. */
const tooHigh = { label: { ...label, level: 'TOP_SECRET' } }

/** Bravo says this, in a statement of which `change` replaces parts. */
export async function say(
  stage: Stage,
  data: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> = {},
) {
  return await post(stage, '/federation/resolution', await stage.delivered('resolution', data, change))
}

let proposals = 0
export const another = () => `xchg_${sha256(`proposal ${++proposals}`).slice(0, 32)}`

async function piece(stage: Stage, exchange_id: string): Promise<Readonly<Record<string, unknown>>> {
  const found = await stage.site.ask('resolution', {
    method: 'GET',
    path: `/api/v2/fusion/exchange/${exchange_id}`,
    token: stage.admin,
  })
  const { agreement } = found.json as { agreement?: unknown }
  const about = { exchange_id, agreement_digest: agreement ? digestOf(agreement) : '0'.repeat(64) }
  return { say: 'piece', ...about, round: 'points', number: 0, of: 1, items: 1, data: 'A'.repeat(43) }
}

export const exchangeRefusals: Record<string, Refusal> = {
  'resolution.exchange.propose not_found': (stage) =>
    post(stage, '/fusion/exchange', sampleProposal({ lens_id: 'nobody-made-this' })),
  'resolution.exchange.propose label_denied': async (stage) => {
    await post(stage, '/lens', { body: sampleLens('9.0.0') })
    return post(stage, '/fusion/exchange', sampleProposal({ lens_version: '9.0.0' }), await uncleared(stage))
  },
  'resolution.exchange.propose over_budget': (stage) =>
    post(stage, '/fusion/exchange', sampleProposal({ privacy: 'none', max_set_bytes: 4_294_967_296 })),
  'resolution.exchange.propose rate_limited': async (stage) => {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? {}
    const open = await store?.get(exchanges, stage.resolution.exchange)
    const ids = Array.from({ length: 100 }, another)
    const value = open && { ...open.value, state: 'proposed' as const, owes: 0 as const }
    for (const id of ids) if (value) await store?.create(exchanges, id, value)
    const heard = await post(stage, '/fusion/exchange', sampleProposal())
    for (const id of ids) await store?.remove(exchanges, id)
    return heard
  },
  'resolution.exchange.agree wrong_state': (stage) =>
    post(stage, `/fusion/exchange/${stage.resolution.exchange}/agree`, { data: sampleData }),
  // The lens sees more than what is proposed may carry.
  async 'resolution.exchange.agree label_denied'(stage) {
    const body = sampleLens('9.1.0')
    await post(stage, '/lens', { body, classification: { level: 'TOP_SECRET', releasable_to: ['alpha', 'bravo'] } })
    const uid = another()
    await say(stage, bravosProposal(uid, { lens_version: '9.1.0', lens_digest: digestOf(lens.parse(body)) }))
    return post(stage, `/fusion/exchange/${uid}/agree`, { data: sampleData })
  },
  async 'resolution.exchange.agree over_budget'(stage) {
    const agreed = async () => {
      const uid = another()
      await say(stage, bravosProposal(uid, { max_set_size: 1_000_000 }, 1_000_000))
      return post(stage, `/fusion/exchange/${uid}/agree`, { data: sampleData })
    }
    await agreed()
    return agreed()
  },
  async 'resolution.exchange.cancel wrong_state'(stage) {
    const { uid } = (await post(stage, '/fusion/exchange', sampleProposal())).json as { uid: string }
    const cancel = () =>
      stage.site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/exchange/${uid}`, token: stage.admin })
    await cancel()
    return cancel()
  },
  'resolution.exchange.receive not_found': async (stage) => say(stage, await piece(stage, another())),
  'resolution.exchange.receive signature_invalid': async (stage) => {
    const message = await stage.delivered('resolution', bravosProposal(another()))
    return post(stage, '/federation/resolution', { ...message, body: Buffer.from('{}').toString('base64url') })
  },
  'resolution.exchange.receive not_your_tenant': (stage) =>
    say(stage, bravosProposal(another()), { receiver_tenant_id: 'charlie' }),
  'resolution.exchange.receive label_denied': (stage) => say(stage, bravosProposal(another()), tooHigh),
  'resolution.exchange.receive already_exists': (stage) => say(stage, bravosProposal(stage.resolution.exchange)),
  async 'resolution.exchange.receive over_budget'(stage) {
    for (;;) {
      const heard = await say(stage, bravosProposal(another()))
      if (heard.status !== 200) return heard
    }
  },
}
