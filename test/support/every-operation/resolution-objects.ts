// What the resolution role holds for the walk over all operations: one object of each kind, SECRET and of tenant alpha.
import { expect } from 'vitest'
import type { Label } from '../../../daemon/kernel/label.ts'
import type { Collection, Stored } from '../../../daemon/kernel/store.ts'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { lensBindings } from '../../../daemon/roles/resolution/lens-binding/model.ts'
import type { SmallSite } from '../small-site.ts'

export type ResolutionObjects = {
  readonly lens: string
  readonly binding: string
  readonly match: string
  readonly cluster: string
  readonly run: string
}

export function sampleLens(version: string) {
  return { lens: 'people', version, entity_type: 'person', fields: [{ name: 'surname', type: 'name' }] }
}

export async function resolutionObjects(site: SmallSite, token: string, label: Label): Promise<ResolutionObjects> {
  const body = { body: sampleLens('1.0.0'), classification: { level: 'SECRET', releasable_to: ['alpha', 'bravo'] } }
  const made = await site.ask('resolution', { method: 'POST', path: '/api/v2/lens', token, body })
  expect(made.status, made.text).toBe(201)
  const lens = (made.json as { uid: string }).uid
  const { store } = site.running.services.find(({ role }) => role.name === 'resolution')?.workshop ?? fail()
  const first = async <T extends Stored>(of: Collection<T>) =>
    (await store.list(of, { limit: 1 })).docs[0]?.id ?? fail()
  const at = '2026-03-02T12:00:00.000Z'
  const [left, right] = ['1', '2'].map((record_id) => ({ node_id: 'a', record_id })) as [Ref, Ref]
  const whose = { tenant_id: 'alpha', label, created_at: at, updated_at: at, run_id: 'run_1' }
  const byLens = { lens: 'people', lens_id: lens, lens_version: '1.0.0', entity_type: 'person' }
  await store.create(entityMatches, 'match_1', {
    ...{ ...whose, ...byLens, left, right, score: { bits: 3, probability: 0.9 }, rank: 2, linked: true, levels: [] },
    ...{ state: 'proposed', decided_by: 'engine', reviews: [], attestations: [] },
  })
  const lineage = { merged_from: [] }
  await store.create(entityClusters, 'ent_1', { ...whose, ...byLens, members: [left, right], size: 2, lineage })
  const { run_id: _run, ...own } = whose
  await store.create(fusionRuns, 'run_1', {
    ...{ ...own, ...byLens, created_by: 'ada', state: 'completed', goal: 'completed', privacy: 'none', seed: 1 },
    ...{ sources: [], counts: {}, request_digest: '', owes: 0, attempts: 0, holds_files: 0 },
  })
  return { lens, binding: await first(lensBindings), match: 'match_1', cluster: 'ent_1', run: 'run_1' }
}

type Ref = { node_id: string; record_id: string }

function fail(): never {
  throw new Error('the stage lacks what it needs')
}
