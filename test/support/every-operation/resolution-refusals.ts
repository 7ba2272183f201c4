// Scenarios for declared refusals of the resolution role that the walk does not cover.

import { mkdirSync } from 'node:fs'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { newJob } from '../../../daemon/kernel/job/rules.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { entityRefusals } from './entity-refusals.ts'
import {
  createUnclearedToken,
  exchangeRefusals,
  nextExchangeId,
  postToResolution,
  type RefusalScenario,
  sendExchangeMessage,
} from './exchange-refusals.ts'
import { type OperationFixture, topSecretClearance } from './operation-fixture.ts'
import {
  buildArrivalInput,
  buildBravoProposal,
  buildLens,
  buildProposalInput,
  buildRunInput,
  sampleSession,
} from './resolution-objects.ts'

/** The id that a request with this key would get. */
function deriveObjectId(address: string, key: string): string {
  return `run_${sha256(JSON.stringify(['alpha', 'ada', address, key])).slice(0, 32)}`
}

/** A run with another site, whose records travel in clear. */
function buildExchangeRunInput(more: Readonly<Record<string, unknown>>) {
  const { lens_id, lens_version, data, classification, privacy: _privacy, ...terms } = buildProposalInput()
  const shared = { lens_id, lens_version, classification, privacy: 'none' }
  return { ...shared, node_data: { own: data }, exchange: { ...terms, ...more } }
}

function openingRefusals(address: string, path: string): Record<string, RefusalScenario> {
  return {
    [`${address} not_found`]: (stage) => postToResolution(stage, path, buildRunInput({ lens_id: 'nobody-made-this' })),
    [`${address} label_denied`]: async (stage) => {
      await postToResolution(stage, '/lens', { body: buildLens('8.0.0') })
      return postToResolution(stage, path, buildRunInput({ lens_version: '8.0.0' }), await createUnclearedToken(stage))
    },
    [`${address} rate_limited`]: async (stage) => {
      const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
      const known = await store?.get(fusionRuns, stage.resolution.extracted)
      if (!store || !known) throw new Error('the stage has no run')
      const ids = Array.from({ length: 100 }, (_, run) => `run_of_many_${run}`)
      for (const id of ids)
        await store.create(fusionRuns, id, {
          ...known.value,
          state: 'matched' as const,
          ...newJob(undefined, undefined),
        })
      const heard = await postToResolution(stage, path, buildRunInput({ seed: 77 }))
      for (const id of ids) await store.remove(fusionRuns, id)
      return heard
    },
    // Another request under the key is writing its records, or was cut short while it did.
    [`${address} conflict`]: async (stage) => {
      mkdirSync(`${stage.site.folder.data}/resolution/runs/${deriveObjectId(address, 'in-the-making')}`, {
        recursive: true,
      })
      return postToResolution(stage, path, buildRunInput(), stage.admin, 'in-the-making')
    },
  }
}

/** A match with every possible decision. */
async function addTooManyReviews(
  stage: OperationFixture,
  verb: 'review' | 'attest',
  changes: object,
): Promise<ExactResponse> {
  const { match } = stage.resolution
  const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
  const at = '2026-03-02T12:00:00.000Z'
  const reviews = Array.from({ length: 1_000 }, (_, word) => {
    return { id: `rev_${word}`, seq: word + 1, by: 'ada', at, decision: 'defer' as const }
  })
  await store?.update(entityMatches, match, ({ value }) => ({ next: { ...value, reviews }, answer: undefined }))
  return postToResolution(stage, `/entity_match/${match}/${verb}`, { ...changes, decision: 'defer' })
}

async function createCancelledExchange(stage: OperationFixture): Promise<string> {
  const { uid } = (await postToResolution(stage, '/fusion/extract', buildRunInput())).json as { uid: string }
  await stage.site.request('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${uid}`, token: stage.admin })
  return uid
}

/** Of operations that go by the lens in use and its latest run. */
function arrivalRefusals(
  address: string,
  path: string,
  buildInput: (more?: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Record<string, RefusalScenario> {
  return {
    [`${address} not_found`]: (stage) => postToResolution(stage, path, buildInput({ lens_id: 'nobody-made-this' })),
    async [`${address} wrong_state`](stage) {
      await postToResolution(stage, '/lens', { body: { ...buildLens('1.0.0'), lens: 'never-run' } })
      return postToResolution(stage, path, buildInput({ lens_id: 'never-run' }))
    },
  }
}

/** While the site only looks records up, as a profile would have it. */
function inLookupOnlyState(scenario: RefusalScenario): RefusalScenario {
  return async (stage) => {
    const { environment } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    const known = environment?.settings
    const lookup_only: RoleEnvironment['settings'] = (of) => {
      const values = known?.(of)
      return { ...values, ...(of.name === 'resolution' ? { matching_pattern: 'lookup_only' } : {}) } as never
    }
    Object.assign(environment ?? {}, { settings: lookup_only })
    try {
      return await scenario(stage)
    } finally {
      Object.assign(environment ?? {}, { settings: known })
    }
  }
}

/** Those that every other state lets through. */
const lookupOnlyRefusals: Record<string, RefusalScenario> = {
  'resolution.lens.create wrong_state': inLookupOnlyState((stage) =>
    postToResolution(stage, '/lens', { body: buildLens('6.0.0') }),
  ),
  'resolution.entity-match.rule wrong_state': inLookupOnlyState((stage) => {
    const input = { tenant_id: 'alpha', session_id: sampleSession, seq: 9, event: 'retracted' }
    return postToResolution(stage, `/entity_match/${stage.resolution.ruled}/ruling`, {
      ...input,
      at: '2026-03-02T12:00:00.000Z',
    })
  }),
  'resolution.fusion-run.start wrong_state': inLookupOnlyState((stage) =>
    postToResolution(stage, '/fusion/run', buildRunInput()),
  ),
  'resolution.fusion.extract wrong_state': inLookupOnlyState((stage) =>
    postToResolution(stage, '/fusion/extract', buildRunInput()),
  ),
  'resolution.exchange.propose wrong_state': inLookupOnlyState((stage) => {
    return postToResolution(stage, '/fusion/exchange', buildProposalInput())
  }),
  'resolution.exchange.receive wrong_state': inLookupOnlyState((stage) =>
    sendExchangeMessage(stage, buildBravoProposal(nextExchangeId())),
  ),
}

const sampleRef = { lens: 'people', node_id: 'a' }
const sampleRecord = { given_name: 'Anna', surname: 'Berg' }

export const resolutionRefusals: Record<string, RefusalScenario> = {
  ...entityRefusals,
  ...arrivalRefusals('resolution.entity.search', '/entity_search', (more) => ({ where: { surname: 'Berg' }, ...more })),
  async 'resolution.entity-match.attest not_contributor'(stage) {
    const { match } = stage.resolution
    return postToResolution(stage, `/entity_match/${match}/attest`, { attester_id: 'nobody', decision: 'defer' })
  },
  async 'resolution.entity-match.consult wrong_state'(stage) {
    await postToResolution(stage, `/entity_match/${stage.resolution.ruled}/review`, { decision: 'confirm' })
    return postToResolution(stage, `/entity_match/${stage.resolution.ruled}/consult`, { policy: { m: 1, n: 1 } })
  },
  'resolution.entity-match.review wrong_state': (stage) => addTooManyReviews(stage, 'review', {}),
  'resolution.entity-match.attest wrong_state': (stage) => addTooManyReviews(stage, 'attest', { attester_id: 'ada' }),
  async 'resolution.lens.create already_exists'(stage) {
    await postToResolution(stage, '/lens', { body: buildLens('7.0.0') })
    return postToResolution(stage, '/lens', { body: { ...buildLens('7.0.0'), id_field: 'another' } })
  },
  async 'resolution.lens.create label_denied'(stage) {
    return postToResolution(
      stage,
      '/lens',
      { body: buildLens('7.1.0'), classification: 'SECRET' },
      await createUnclearedToken(stage),
    )
  },
  'resolution.entity.find not_found': ({ site, admin }) => {
    const path = '/api/v2/entity?lens=people&node_id=a&record_id=nobody'
    return site.request('resolution', { method: 'GET', path, token: admin })
  },
  'resolution.entity-record.forget not_found': (stage) =>
    postToResolution(stage, '/entity_record/forget', { ...sampleRef, record_id: 'nobody', reason: 'requested' }),
  'resolution.entity-record.forget wrong_state': (stage) =>
    postToResolution(stage, '/entity_record/forget', { ...sampleRef, record_id: '1', reason: 'requested' }),
  'resolution.entity-cluster.remove wrong_state': (stage) =>
    postToResolution(stage, `/entity_cluster/${stage.resolution.cluster}/remove`, { reason: 'test data' }),
  'resolution.entity.lookup not_found': (stage) =>
    postToResolution(stage, '/entity_lookup', { record: sampleRecord, lens_id: 'nobody-made-this' }),
  async 'resolution.entity.lookup wrong_state'(stage) {
    await postToResolution(stage, '/lens', { body: { ...buildLens('1.0.0'), lens: 'never-run' } })
    return postToResolution(stage, '/entity_lookup', { record: sampleRecord, lens_id: 'never-run' })
  },
  ...lookupOnlyRefusals,
  async 'resolution.arrival.create label_denied'(stage) {
    const token = await stage.site.token({ roles: ['admin'], clearance: { level: 'SECRET' } })
    return postToResolution(stage, '/arrival', buildArrivalInput({ classification: 'TOP_SECRET' }), token)
  },
  ...arrivalRefusals('resolution.arrival.create', '/arrival', buildArrivalInput),
  ...arrivalRefusals('resolution.registry.export', '/registry/export', (more = {}) => ({ peer: 'bravo', ...more })),
  'resolution.registry.export label_denied': (stage) =>
    postToResolution(stage, '/registry/export', { peer: 'nobody', lens_id: 'people' }),
  // A run writes the registry just then.
  async 'resolution.registry.export conflict'(stage) {
    const { store } = stage.site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    await store?.update(fusionRuns, stage.resolution.doomed, ({ value }) => ({
      next: { ...value, state: 'resolving' as const, ...newJob(undefined, undefined) },
      answer: undefined,
    }))
    return postToResolution(stage, '/registry/export', { peer: 'bravo', lens_id: 'people' })
  },
  ...exchangeRefusals,
  ...openingRefusals('resolution.fusion-run.start', '/fusion/run'),
  'resolution.fusion-run.start over_budget': (stage) =>
    postToResolution(stage, '/fusion/run', buildExchangeRunInput({ max_set_bytes: 4_294_967_296 })),
  'resolution.fusion-run.start not_your_tenant': async (stage) =>
    postToResolution(
      stage,
      '/fusion/run',
      buildExchangeRunInput({}),
      await stage.site.token({ roles: ['admin'], tenant_id: 'bravo', ...topSecretClearance }),
    ),
  ...openingRefusals('resolution.fusion.extract', '/fusion/extract'),
  'resolution.fusion.match wrong_state': async (stage) =>
    postToResolution(stage, `/fusion/match/${await createCancelledExchange(stage)}`, {}),
  'resolution.fusion.resolve wrong_state': async (stage) =>
    postToResolution(stage, `/fusion/resolve/${await createCancelledExchange(stage)}`, {}),
  async 'resolution.fusion-run.cancel wrong_state'({ site, admin, resolution: { run } }) {
    return site.request('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${run}`, token: admin })
  },
}
