// Builds the content of a registry after a run: the values and entity of each record, and the learnt weights.
import { listClusters } from '../../../roles/resolution/engine/findings.ts'
import { reformValues } from '../../../roles/resolution/engine/lookup/reform-values.ts'
import { buildLookupWeights } from '../../../roles/resolution/engine/lookup/weights.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { type DetailedResolution, usesTermFrequencies } from '../../../roles/resolution/engine/resolve.ts'
import { extractMatchWeights } from '../../../roles/resolution/engine/score/match-weights.ts'
import { isOfOtherForm, text_form } from '../../../roles/resolution/engine/text/text-form.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { PairDecision } from '../../../roles/resolution/registry/cluster-with-decisions.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { EntityRegistry } from './entity-registry.ts'
import { buildMemberKey, digestLens, type RegistryContent, type RegistryRecord } from './registry-content.ts'

/**
 * Records that the run did not have stay unchanged, but for the form of their texts: `reformed` counts them. Throws
 * `OfflineCommandError` (3) if the registry lacks their values.
 * The registry is the one after the run, except for its records.
 */
export function buildRegistryContent(
  lens: Lens,
  records: LensRecords,
  resolution: DetailedResolution,
  decisions: readonly PairDecision[],
  { entities, content }: EntityRegistry,
): { readonly content: RegistryContent; readonly reformed: number } {
  const entityOf = new Map(
    entities.flatMap(({ entity, members }) => members.map((member) => [buildMemberKey(member), entity] as const)),
  )
  const storedRecords = new Map<string, RegistryRecord>(content?.records)
  const unread = new Map(content?.records)
  for (const members of listClusters(records, resolution.clusters).clusters) {
    for (const { ref, values } of members) {
      const key = buildMemberKey([ref.node_id, ref.record_id])
      unread.delete(key)
      storedRecords.set(key, { values, found: entityOf.get(key) })
    }
  }
  if ([...entityOf.keys()].some((key) => !storedRecords.has(key))) {
    throw new OfflineCommandError(
      3,
      'the registry names records whose values it does not have, and that are not in the data',
      'run once with all data files',
    )
  }
  const reformed = [...unread].flatMap(([key, record]) => {
    const formed = { ...record, text_form: content?.learnt.text_form }
    return isOfOtherForm(formed) ? [[key, reformValues(lens, formed)] as const] : []
  })
  for (const [key, { text_form: _form, ...record }] of reformed) storedRecords.set(key, record)
  const weights = buildLookupWeights(
    lens,
    records,
    resolution,
    extractMatchWeights(resolution, usesTermFrequencies(lens)),
  )
  const learnt = {
    lens: digestLens(lens),
    route: resolution.route,
    isOneSource: records.names.length === 1,
    text_form,
    weights,
  }
  return { content: { learnt, records: storedRecords, decisions }, reformed: reformed.length }
}
