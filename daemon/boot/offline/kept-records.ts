// What a run leaves in a registry that keeps records: what each says, the entity that it is, and what was learnt.
import { clustersOf } from '../../roles/resolution/engine/findings.ts'
import { lookupWeights } from '../../roles/resolution/engine/lookup/weights.ts'
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import { hasFrequencies, type Resolved } from '../../roles/resolution/engine/resolve.ts'
import { weightsIn } from '../../roles/resolution/engine/score/evidence.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { Decision } from '../../roles/resolution/registry/settling.ts'
import type { Registry } from './entity-registry.ts'
import { Objection } from './objection.ts'
import { type KeptRecord, keyOf, type RegistryContent, seenBy } from './registry-content.ts'

/** Records that the run did not have stay as they were. Throws `Objection` (3) where nothing is known of what they say. `registry`: as it is after the run, but for the records. */
export function contentOf(
  lens: Lens,
  records: Records,
  found: Resolved,
  decisions: readonly Decision[],
  { entities, content }: Registry,
): RegistryContent {
  const entityOf = new Map(entities.flatMap(({ entity, members }) => members.map((of) => [keyOf(of), entity] as const)))
  const kept = new Map<string, KeptRecord>(content?.records)
  for (const members of clustersOf(records, found.clusters).found) {
    for (const { ref, values } of members) {
      const key = keyOf([ref.node_id, ref.record_id])
      kept.set(key, { values, found: entityOf.get(key) })
    }
  }
  if ([...entityOf.keys()].some((key) => !kept.has(key))) {
    throw new Objection(
      3,
      'the registry has records that it never kept and that are not here',
      'run once with all of them',
    )
  }
  const weights = lookupWeights(lens, records, found, weightsIn(found, hasFrequencies(lens)))
  const learnt = { lens: seenBy(lens), route: found.route, isOneSource: records.names.length === 1, weights }
  return { learnt, records: kept, decisions }
}
