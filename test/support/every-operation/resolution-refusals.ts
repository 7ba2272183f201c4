// How the declared refusals of the resolution role are brought about that the walk does not show.
import { mkdirSync } from 'node:fs'
import type { Surroundings } from '../../../daemon/kernel/call.ts'
import { digestOf, sha256 } from '../../../daemon/kernel/canonical.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { Heard } from '../http-exchange.ts'
import {
  bravosProposal,
  sampleArrival,
  sampleData,
  sampleLens,
  sampleProposal,
  sampleRun,
  sampleSession,
} from './resolution-objects.ts'
import { label, type Stage } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>

function post({ site, admin }: Stage, path: string, body: unknown, token = admin, key?: string): Promise<Heard> {
  const headers = { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) }
  return site.ask('resolution', { method: 'POST', path: `/api/v2${path}`, token, headers, body: JSON.stringify(body) })
}

const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

/** The id that a request with this key would get. */
function idOf(address: string, key: string): string {
  return `run_${sha256(JSON.stringify(['alpha', 'ada', address, key])).slice(0, 32)}`
}

function opening(address: string, path: string): Record<string, Refusal> {
  return {
    [`${address} not_found`]: (stage) => post(stage, path, sampleRun({ lens_id: 'nobody-made-this' })),
    [`${address} label_denied`]: async (stage) => {
      await post(stage, '/lens', { body: sampleLens('8.0.0') })
      return post(stage, path, sampleRun({ lens_version: '8.0.0' }), await uncleared(stage))
    },
    [`${address} rate_limited`]: async (stage) => {
      const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? {}
      const known = await store?.get(fusionRuns, stage.resolution.extracted)
      if (!store || !known) throw new Error('the stage has no run')
      const ids = Array.from({ length: 100 }, (_, run) => `run_of_many_${run}`)
      for (const id of ids) await store.create(fusionRuns, id, { ...known.value, state: 'matched' as const, owes: 0 as const })
      const heard = await post(stage, path, sampleRun({ seed: 77 }))
      for (const id of ids) await store.remove(fusionRuns, id)
      return heard
    },
    // Another request under the key is writing its records, or was cut short while it did.
    [`${address} conflict`]: async (stage) => {
      mkdirSync(`${stage.site.folder.data}/resolution/runs/${idOf(address, 'in-the-making')}`, { recursive: true })
      return post(stage, path, sampleRun(), stage.admin, 'in-the-making')
    },
  }
}

/** A match of which all has been said that a match takes. */
async function tooManyWords(stage: Stage, verb: 'review' | 'attest', given: object): Promise<Heard> {
  const { match } = stage.resolution
  const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? {}
  const at = '2026-03-02T12:00:00.000Z'
  const reviews = Array.from({ length: 1_000 }, (_, word) => {
    return { id: `rev_${word}`, seq: word + 1, by: 'ada', at, decision: 'defer' as const }
  })
  await store?.update(entityMatches, match, ({ value }) => ({ next: { ...value, reviews }, answer: undefined }))
  return post(stage, `/entity_match/${match}/${verb}`, { ...given, decision: 'defer' })
}

async function cancelled(stage: Stage): Promise<string> {
  const { uid } = (await post(stage, '/fusion/extract', sampleRun())).json as { uid: string }
  await stage.site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${uid}`, token: stage.admin })
  return uid
}

/** A statement above the ceiling of its channel. */
const tooHigh = { label: { ...label, level: 'TOP_SECRET' } }

/** Bravo says this, in a statement of which `change` replaces parts. */
async function say(
  stage: Stage,
  data: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> = {},
) {
  return await post(stage, '/federation/resolution', await stage.delivered('resolution', data, change))
}

let proposals = 0
const another = () => `xchg_${sha256(`proposal ${++proposals}`).slice(0, 32)}`

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

const exchange: Record<string, Refusal> = {
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

/** Of operations that go by the lens in use and its latest run. */
function arriving(
  address: string,
  path: string,
  said: (more?: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Record<string, Refusal> {
  return {
    [`${address} not_found`]: (stage) => post(stage, path, said({ lens_id: 'nobody-made-this' })),
    async [`${address} wrong_state`](stage) {
      await post(stage, '/lens', { body: { ...sampleLens('1.0.0'), lens: 'never-run' } })
      return post(stage, path, said({ lens_id: 'never-run' }))
    },
  }
}

/** While the site only looks records up, as a profile would have it. */
function whereLookedUp(asked: Refusal): Refusal {
  return async (stage) => {
    const { surroundings } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? {}
    const known = surroundings?.settings
    const lookup_only: Surroundings['settings'] = (of) => {
      const values = known?.(of)
      return { ...values, ...(of.name === 'resolution' ? { matching_pattern: 'lookup_only' } : {}) } as never
    }
    Object.assign(surroundings ?? {}, { settings: lookup_only })
    try {
      return await asked(stage)
    } finally {
      Object.assign(surroundings ?? {}, { settings: known })
    }
  }
}

/** Those that every other state lets through. */
const lookingUp: Record<string, Refusal> = {
  'resolution.lens.create wrong_state': whereLookedUp((stage) => post(stage, '/lens', { body: sampleLens('6.0.0') })),
  'resolution.entity-match.rule wrong_state': whereLookedUp((stage) => {
    const said = { tenant_id: 'alpha', session_id: sampleSession, seq: 9, event: 'retracted' }
    return post(stage, `/entity_match/${stage.resolution.ruled}/ruling`, { ...said, at: '2026-03-02T12:00:00.000Z' })
  }),
  'resolution.fusion-run.start wrong_state': whereLookedUp((stage) => post(stage, '/fusion/run', sampleRun())),
  'resolution.fusion.extract wrong_state': whereLookedUp((stage) => post(stage, '/fusion/extract', sampleRun())),
  'resolution.exchange.propose wrong_state': whereLookedUp((stage) => {
    return post(stage, '/fusion/exchange', sampleProposal())
  }),
  'resolution.exchange.receive wrong_state': whereLookedUp((stage) => say(stage, bravosProposal(another()))),
}

const sampleRecord = { given_name: 'Anna', surname: 'Berg' }

export const resolutionRefusals: Record<string, Refusal> = {
  async 'resolution.entity-match.attest not_contributor'(stage) {
    const { match } = stage.resolution
    return post(stage, `/entity_match/${match}/attest`, { attester_id: 'nobody', decision: 'defer' })
  },
  async 'resolution.entity-match.consult wrong_state'(stage) {
    return post(stage, `/entity_match/${stage.resolution.ruled}/consult`, { policy: { m: 1, n: 1 } })
  },
  'resolution.entity-match.review wrong_state': (stage) => tooManyWords(stage, 'review', {}),
  'resolution.entity-match.attest wrong_state': (stage) => tooManyWords(stage, 'attest', { attester_id: 'ada' }),
  async 'resolution.lens.create already_exists'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.0.0') })
    return post(stage, '/lens', { body: { ...sampleLens('7.0.0'), id_field: 'another' } })
  },
  async 'resolution.lens.create label_denied'(stage) {
    return post(stage, '/lens', { body: sampleLens('7.1.0'), classification: 'SECRET' }, await uncleared(stage))
  },
  async 'resolution.lens.create not_found'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.2.0'), classification: 'SECRET' })
    return post(stage, '/lens', { body: sampleLens('7.2.0') }, await uncleared(stage))
  },
  'resolution.entity.lookup not_found': (stage) =>
    post(stage, '/entity_lookup', { record: sampleRecord, lens_id: 'nobody-made-this' }),
  async 'resolution.entity.lookup wrong_state'(stage) {
    await post(stage, '/lens', { body: { ...sampleLens('1.0.0'), lens: 'never-run' } })
    return post(stage, '/entity_lookup', { record: sampleRecord, lens_id: 'never-run' })
  },
  ...lookingUp,
  async 'resolution.arrival.create label_denied'(stage) {
    const token = await stage.site.token({ roles: ['admin'], clearance: { level: 'SECRET' } })
    return post(stage, '/arrival', sampleArrival({ classification: 'TOP_SECRET' }), token)
  },
  ...arriving('resolution.arrival.create', '/arrival', sampleArrival),
  ...arriving('resolution.registry.export', '/registry/export', (more = {}) => ({ peer: 'bravo', ...more })),
  'resolution.registry.export label_denied': (stage) =>
    post(stage, '/registry/export', { peer: 'nobody', lens_id: 'people' }),
  // A run writes the registry just then.
  async 'resolution.registry.export conflict'(stage) {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? {}
    await store?.update(fusionRuns, stage.resolution.doomed, ({ value }) => ({
      next: { ...value, state: 'resolving' as const, owes: 0 as const },
      answer: undefined,
    }))
    return post(stage, '/registry/export', { peer: 'bravo', lens_id: 'people' })
  },
  ...exchange,
  ...opening('resolution.fusion-run.start', '/fusion/run'),
  ...opening('resolution.fusion.extract', '/fusion/extract'),
  'resolution.fusion.match wrong_state': async (stage) => post(stage, `/fusion/match/${await cancelled(stage)}`, {}),
  'resolution.fusion.resolve wrong_state': async (stage) =>
    post(stage, `/fusion/resolve/${await cancelled(stage)}`, {}),
  async 'resolution.fusion-run.cancel wrong_state'({ site, admin, resolution: { run } }) {
    return site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${run}`, token: admin })
  },
}
