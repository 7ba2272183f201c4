// How the declared refusals of the resolution role are brought about that the walk does not show.
import { mkdirSync } from 'node:fs'
import type { Surroundings } from '../../../daemon/kernel/call.ts'
import { sha256 } from '../../../daemon/kernel/canonical.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import type { Heard } from '../http-exchange.ts'
import { another, exchangeRefusals, post, type Refusal, say, uncleared } from './exchange-refusals.ts'
import {
  bravosProposal,
  sampleArrival,
  sampleLens,
  sampleProposal,
  sampleRun,
  sampleSession,
} from './resolution-objects.ts'
import type { Stage } from './stage.ts'

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
      for (const id of ids)
        await store.create(fusionRuns, id, { ...known.value, state: 'matched' as const, owes: 0 as const })
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
  ...exchangeRefusals,
  ...opening('resolution.fusion-run.start', '/fusion/run'),
  ...opening('resolution.fusion.extract', '/fusion/extract'),
  'resolution.fusion.match wrong_state': async (stage) => post(stage, `/fusion/match/${await cancelled(stage)}`, {}),
  'resolution.fusion.resolve wrong_state': async (stage) =>
    post(stage, `/fusion/resolve/${await cancelled(stage)}`, {}),
  async 'resolution.fusion-run.cancel wrong_state'({ site, admin, resolution: { run } }) {
    return site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${run}`, token: admin })
  },
}
