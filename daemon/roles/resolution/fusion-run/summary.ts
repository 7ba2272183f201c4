// Describes a run as prose: its records, its results, the decisions, and the open matches.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation, RawResponse } from '../../../kernel/operation/operation.ts'
import { preferredMediaType } from '../../../kernel/operation/preferred-media-type.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { formatCount } from '../../../kernel/text/format-count.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityMatches } from '../entity-match/model.ts'
import { narrateRun, type RunFacts } from '../explain/narrative.ts'
import { type LeftOut, uid } from '../fields.ts'
import { fusionRuns, type StoredRun } from './model.ts'

/** Half a bit of uncertainty: a probability of about one in nine. */
const min_uncertain_worth = 0.5

export const summary = operation({
  summary: 'Describe a run and its results as prose',
  method: 'GET',
  path: '/api/v2/fusion_run/{run_id}/summary',
  tool: 'fusion_run_summary',
  input: z.strictObject({ run_id: uid }),
  output: z
    .strictObject({ run_id: uid, classification: label, text: z.string() })
    .meta({ id: 'RunNarrative', description: 'A deterministic description as prose' }),
  errors: ['not_found'],
  allow: 'resolution:read',
  produces: ['application/json', 'text/plain'],

  async run(call, { run_id }) {
    const run = await call.store(fusionRuns).get(run_id)
    const text = narrateRun(await loadRunFacts(call, run))
    if (preferredMediaType(call.accepts, ['application/json', 'text/plain']) === 'text/plain')
      return new RawResponse('text/plain; charset=utf-8', text)
    return { run_id, classification: run.value.label, text }
  },
})

/** Loads the facts of a run. Counts only documents that the caller may see. */
async function loadRunFacts(call: Call, { id: run_id, value }: Doc<StoredRun>): Promise<RunFacts> {
  const matches = call.store(entityMatches)
  const people = { run_id, decided_by: 'human' }
  const sizes = await call.store(entityClusters).countBy('size', { run_id, state: 'live', size: { gte: 2 } })
  const [overruled, pending] = await Promise.all([
    matches.count({ run_id, overruled: true }),
    matches.count({ run_id, owes: 1 }),
  ])
  const { counts, failure, sources, lens, lens_version, entity_type, state, route, seed } = value
  return {
    ...{ lens, lens_version, entity_type, state, route, seed, ...counts },
    sources: sources.map(({ node_id, records }) => ({ name: node_id, records })),
    sizes: [...sizes].map(([size, clusters]) => ({ size: Number(size), clusters })).sort((a, b) => a.size - b.size),
    confirmed: await matches.count({ ...people, state: 'confirmed' }),
    rejected: await matches.count({ ...people, state: 'rejected' }),
    deferred: await matches.count({ ...people, state: 'deferred' }),
    by_consensus: await matches.count({ run_id, decided_by: 'consensus' }),
    uncertain: await matches.count({
      run_id,
      state: { in: ['proposed', 'deferred'] },
      worth: { gte: min_uncertain_worth },
    }),
    evidence: value.evidence ?? [],
    quality: value.quality,
    warnings: [
      ...(value.left_out ?? []).map(describeLeftOut),
      ...(overruled > 0 ? [`confirmed matches that rejected matches keep apart: ${overruled}`] : []),
      ...(pending > 0 ? [`decisions not yet applied to the clusters: ${pending}`] : []),
    ],
    failure: failure?.reason,
  }
}

function describeLeftOut({ what, count, limit }: LeftOut): string {
  const records = formatCount(count, 'record', 'records')
  const words = {
    matches: `${formatCount(count, 'match', 'matches')} with the lowest scores are not stored, since resolution.max_matches is ${limit}; clusters are complete`,
    text_neighbours: `records with similar texts and without a shared key were not compared: ${records}, and such a search has ${limit} at most`,
    withdrawn_records: `${records} that were forgotten, or whose entity was deleted, were not read`,
    reformed_records: `${records} of the registry that no source has: stored texts were brought into the form of this version, without what the earlier form had dropped, such as vowel marks; send those of other scripts than Latin again if another source has them`,
  }
  return words[what]
}
