// What a run leaves in a registry that keeps records: what each says, the entity that it is, and what was learnt.
import { listClusters } from '../../../roles/resolution/engine/findings.ts'
import { buildLookupWeights } from '../../../roles/resolution/engine/lookup/weights.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { type DetailedResolution, usesTermFrequencies } from '../../../roles/resolution/engine/resolve.ts'
import { extractMatchWeights } from '../../../roles/resolution/engine/score/match-weights.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../../roles/resolution/registry/cluster-with-decisions.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { EntityRegistry } from './entity-registry.ts'
import { buildMemberKey, digestLens, type RegistryContent, type RegistryRecord } from './registry-content.ts'

/** Records that the run did not have stay as they were. Throws `OfflineCommandError` (3) where nothing is known of what they say. `registry`: as it is after the run, but for the records. */
export function buildRegistryContent(
  lens: Lens,
  records: LensRecords,
  found: DetailedResolution,
  decisions: readonly PairDecision[],
  { entities, content }: EntityRegistry,
): RegistryContent {
  const entityOf = new Map(
    entities.flatMap(({ entity, members }) => members.map((of) => [buildMemberKey(of), entity] as const)),
  )
  const kept = new Map<string, RegistryRecord>(content?.records)
  for (const members of listClusters(records, found.clusters).clusters) {
    for (const { ref, values } of members) {
      const key = buildMemberKey([ref.node_id, ref.record_id])
      kept.set(key, { values, found: entityOf.get(key) })
    }
  }
  if ([...entityOf.keys()].some((key) => !kept.has(key))) {
    throw new OfflineCommandError(
      3,
      'the registry names records whose content it did not keep, and that are not in the data',
      'run once with all data files',
    )
  }
  const weights = buildLookupWeights(lens, records, found, extractMatchWeights(found, usesTermFrequencies(lens)))
  const learnt = { lens: digestLens(lens), route: found.route, isOneSource: records.names.length === 1, weights }
  return { learnt, records: kept, decisions }
}
