// Performs the jobs of the matching thread on the indexes that it owns; no I/O but queries.
import { refuse } from '../../../kernel/error/errors.ts'
import type { ResidentContext } from '../../../kernel/role/compute.ts'
import { findSharing } from '../engine/lookup/find-sharing.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import { createLookupKeys } from '../engine/lookup/keys.ts'
import { LookupIndex } from '../engine/lookup/lookup-index.ts'
import { normaliseRecord } from '../engine/lookup/normalise-record.ts'
import { reformValues } from '../engine/lookup/reform-values.ts'
import { searchRecords } from '../engine/lookup/search-records.ts'
import type { FormedValues } from '../engine/text/text-form.ts'
import { recordUid } from '../entity-record/model.ts'
import { findEntityCandidates } from '../lookup/entity-candidates.ts'
import { showCandidate } from '../lookup/show-candidate.ts'
import { clusterWithDecisions } from '../registry/cluster-with-decisions.ts'
import { joinWaitingRecords } from './join-waiting-records.ts'
import type {
  IndexId,
  MatchingJob,
  MatchingJobName,
  MatchingJobs,
  MatchingQueries,
  MatchingQueryName,
} from './matching-jobs.ts'

/** Sends a query of a job. */
export type QuerySender = <Q extends MatchingQueryName>(
  query: Q,
  input: MatchingQueries[Q][0],
) => Promise<MatchingQueries[Q][1]>

export type JobContext = { readonly query: QuerySender; pause(): Promise<void> }

type JobPerformer<N extends MatchingJobName> = (
  indexes: Map<IndexId, LookupIndex>,
  input: MatchingJobs[N][0],
  context: JobContext,
) => Promise<MatchingJobs[N][1]>

/** Performs jobs; keeps the indexes between them. */
export function createJobPerformer(): (job: unknown, context: ResidentContext) => Promise<unknown> {
  const indexes = new Map<IndexId, LookupIndex>()
  return async (message, context) => {
    const { job, input } = message as MatchingJob
    const query: QuerySender = async (name, queryInput) =>
      (await context.query({ query: name, input: queryInput })) as MatchingQueries[typeof name][1]
    const perform = performers[job] as JobPerformer<MatchingJobName>
    return await perform(indexes, input, { query, pause: () => context.pause() })
  }
}

const performers: { readonly [N in MatchingJobName]: JobPerformer<N> } = {
  async put_records(indexes, { index: id, lens, records, isNew, evicted }, { pause }) {
    for (const each of evicted) indexes.delete(each)
    if (isNew) indexes.set(id, new LookupIndex(createLookupKeys(lens)))
    const index = getIndex(indexes, id)
    for (const { uid, values, isCounted } of records) {
      if (values) index.put(uid, values, isCounted)
      else index.remove(uid)
      await pause()
    }
    return { size: index.size, bytes: index.bytes }
  },

  async normalise(_indexes, { lens, records }, { pause }) {
    const values: (FieldValues | undefined)[] = []
    for (const record of records) {
      values.push(normaliseRecord(lens, record))
      await pause()
    }
    return values
  },

  async reform(_indexes, { lens, records }, { pause }) {
    const reformed: FormedValues[] = []
    for (const record of records) {
      reformed.push(reformValues(lens, record))
      await pause()
    }
    return reformed
  },

  async look_up(indexes, { index: id, tenant_id, lens, weights, route, record, ref, limit }, { query, pause }) {
    const index = getIndex(indexes, id)
    const values = normaliseRecord(lens, record)
    if (!values) return undefined
    const uidOf = (member: typeof ref & object) => recordUid(tenant_id, lens.lens, member)
    const registry = {
      ...{ lens, weights, route, index, uidOf, pause },
      entitiesOf: (uids: readonly string[]) => query('entities_of', uids),
      visibleRecords: (uids: readonly string[]) => query('visible_records', uids),
    }
    const candidates = await findEntityCandidates(registry, { values, ref, limit })
    const shown = []
    for (const candidate of candidates) {
      shown.push(showCandidate(candidate, values, registry))
      await pause()
    }
    return shown
  },

  async search_records(indexes, { index, lens, ...search }, { pause }) {
    return await searchRecords(getIndex(indexes, index), lens, search, pause)
  },

  async find_sharing(indexes, { index, fields, max_records }, { pause }) {
    return await findSharing(getIndex(indexes, index), fields, max_records, pause)
  },

  async join_arrivals(indexes, { index, waiting, ...matching }, context) {
    await joinWaitingRecords({ ...matching, index: getIndex(indexes, index) }, waiting, context)
    return undefined
  },

  async apply_decisions(_indexes, input) {
    return clusterWithDecisions(input)
  },
}

/** The thread may have been replaced, which the next lookup notices. */
function getIndex(indexes: ReadonlyMap<IndexId, LookupIndex>, id: IndexId): LookupIndex {
  const index = indexes.get(id)
  if (!index) throw refuse('unavailable', 'the records of the registry are being loaded again: retry')
  return index
}
