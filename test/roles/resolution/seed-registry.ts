// A registry as a run leaves it: records, the clusters of the engine, and the matches that say so.
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { clusterUid, entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityMatches, matchUid, type StoredMatch } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { lensUid } from '../../../daemon/roles/resolution/lens/stored-lens.ts'
import type { TestSite } from '../../support/site/test-site.ts'

export const seeded_at = '2026-03-02T12:00:00.000Z'
export const registryLabel: Label = {
  policy: 'SITE',
  level: 'UNCLASSIFIED',
  categories: [],
  originator: 'tenant-a',
  releasable_to: ['tenant-a'],
}

export type ScoredPair = readonly [left: string, right: string, bits: number]

export type SeededRegistry = {
  /** Records by cluster, as the engine found them. */
  readonly clusters: readonly (readonly string[])[]
  readonly pairs: readonly ScoredPair[]
  readonly lens?: string
  readonly tenant_id?: string
  readonly label?: Label
}

const buildRecordRef = (record_id: string) => ({ node_id: 'north', record_id })
const floor_bits = -4 / Math.LN2

/** The uid of the match of two records. */
export function buildMatchUid(left: string, right: string, lens = 'people', tenant_id = 'tenant-a'): string {
  return matchUid(tenant_id, lens, buildRecordRef(left), buildRecordRef(right))
}

export async function seedRegistry(world: Pick<TestSite, 'store'>, registry: SeededRegistry): Promise<void> {
  const { clusters, pairs, lens = 'people', tenant_id = 'tenant-a', label: held = registryLabel } = registry
  const store = world.store('resolution')
  const byLens = { lens, lens_id: lensUid(tenant_id, lens, '1.0.0'), lens_version: '1.0.0', entity_type: 'person' }
  const own = { tenant_id, label: held, run_id: 'run_1', updated_at: seeded_at }
  const clusterOf = new Map<string, string>()
  for (const members of clusters) {
    const [first = ''] = members
    const entity = clusterUid(tenant_id, lens, buildRecordRef(first))
    const base = recordUid(tenant_id, lens, buildRecordRef(first))
    await store.create(entityClusters, entity, {
      ...{ ...own, ...byLens, created_at: seeded_at, state: 'live' },
      ...{ members: members.map(buildRecordRef), size: members.length, lineage: { merged_from: [] } },
    })
    for (const id of members) {
      clusterOf.set(id, entity)
      const values = { surname: `name of ${id}` }
      const record = { ...own, lens, ref: buildRecordRef(id), values, base, entity }
      await store.create(entityRecords, recordUid(tenant_id, lens, buildRecordRef(id)), record)
    }
  }
  for (const [one, other, bits] of pairs) {
    const [left, right] = [one, other].sort() as [string, string]
    const match: StoredMatch = {
      ...{
        ...own,
        ...byLens,
        created_at: seeded_at,
        left: buildRecordRef(left),
        right: buildRecordRef(right),
        levels: [],
        rank: bits,
      },
      ...{ score: { bits, probability: 1 / (1 + 2 ** -bits) }, linked: clusterOf.get(left) === clusterOf.get(right) },
      ...{ state: 'proposed', decided_by: 'engine', reviews: [], attestations: [], rulings: [] },
      ...{ above: bits - floor_bits, worth: 0.5, owes: 0, asks: 0 },
      left_uid: recordUid(tenant_id, lens, buildRecordRef(left)),
      right_uid: recordUid(tenant_id, lens, buildRecordRef(right)),
    }
    await store.create(entityMatches, buildMatchUid(left, right, lens, tenant_id), match)
  }
}
