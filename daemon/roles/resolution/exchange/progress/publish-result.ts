// Publishes the result of an exchange: matches and clusters of a private run, or the peer's records as input of an
// ordinary run.

import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import { isJobIdle, wakeJob } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { fusionRuns, type StoredRun } from '../../fusion-run/model.ts'
import { publishMatches } from '../../fusion-run/publish-matches.ts'
import { runWork } from '../../parts.ts'
import { publishRegistry } from '../../registry/publish-registry.ts'
import { settings } from '../../settings.ts'
import { findOtherParty } from '../agreement/agreement.ts'
import type { ExchangeFindingCounts, ReceivedMatches } from '../job/exchange-jobs.ts'
import { runIdOfExchange } from '../model.ts'
import { loadBytes, loadTexts } from '../piece/piece-sets.ts'
import { changeExchangeRun, completeExchangeRun } from './exchange-run.ts'
import {
  type ExchangeStepContext,
  getClkParameters,
  loadItemOrder,
  loadRecordPieces,
  performJob,
  prepareRound,
} from './prepare-round.ts'

/** Publishes the result. A repeat is safe, since all ids derive from the content. */
export async function publishResult(context: ExchangeStepContext): Promise<Refusal | undefined> {
  const { call, doc } = context
  const { agreement } = doc.value
  const isParty = agreement.parties.includes(call.site.name)
  if (isParty && (await call.store(fusionRuns).get(runIdOfExchange(doc.id))).value.state === 'completed')
    return undefined
  if (!agreement.learns.includes(call.site.name)) return isParty ? await completeWithoutResult(context) : undefined
  if (agreement.privacy === 'none') return await startLocalRun(context)
  const received = agreement.privacy === 'psi' ? await loadSharedKeys(context) : await loadVectorPairs(context)
  return isRefusal(received) ? received : await writeFindings(context, received)
}

async function completeWithoutResult({ call, doc }: ExchangeStepContext): Promise<Refusal | undefined> {
  return await completeExchangeRun(call, doc.id, { records: doc.value.sizes[call.site.name] ?? 0 })
}

/**
 * Starts an ordinary run of this site, with the records of both sites as its nodes. Both sites use the same lens and
 * get the same result.
 */
async function startLocalRun(context: ExchangeStepContext): Promise<Refusal | undefined> {
  const { call, doc, lens } = context
  const { agreement, sizes, own = '' } = doc.value
  const run = await call.store(fusionRuns).find(runIdOfExchange(doc.id))
  if (run && !isJobIdle(run.value)) return undefined
  const self = call.site.name
  const sets = await Promise.all(
    agreement.parties.toSorted().map(async (site) => {
      const pieces = await loadTexts(call, doc.id, site, site === self ? own : 'records')
      if (!pieces) throw new Error(`pieces of the records of ${site} are missing`)
      return { site, size: sizes[site] ?? 0, pieces }
    }),
  )
  const input = await performJob(context, 'write_run_input', { lens, fields: agreement.fields, sets })
  if (isRefusal(input)) return input
  // The run is work of its own: the grant of the exchange does not count for it. Where the profile agreed, nobody has one.
  const place = { collection: fusionRuns.name, id: runIdOfExchange(doc.id) }
  const principal = doc.value.job.principal && (await call.delegation().store(place))
  if (isRefusal(principal)) return principal
  const at = call.nowIso()
  const started = await changeExchangeRun(call, doc.id, (current) => ({
    ...wakeJob(current, call.now(), principal),
    state: 'pending',
    updated_at: at,
  }))
  return isRefusal(started) ? started : undefined
}

/**
 * Loads the positions of shared keys. A position in the set of the peer represents the peer's records with that key.
 */
async function loadSharedKeys(context: ExchangeStepContext): Promise<ReceivedMatches | Refusal> {
  const { call, doc } = context
  const { learns, parties } = doc.value.agreement
  const isFinder = call.site.name === (learns.includes(parties[0]) ? parties[0] : parties[1])
  const refused = isFinder ? await prepareRound(context, 'places') : undefined
  if (refused) return refused
  const other = findOtherParty(doc.value.agreement, call.site.name)
  const peer = await loadIntegers(call, doc.id, isFinder ? call.site.name : other, 'places')
  const own = isFinder ? await loadIntegers(call, doc.id, call.site.name, 'met') : peer
  return { by: 'keys', other, positions: { own, peer } }
}

async function loadVectorPairs(context: ExchangeStepContext): Promise<ReceivedMatches | Refusal> {
  const { call, doc } = context
  const { agreement, sizes } = doc.value
  const { parties, linker = '' } = agreement
  const self = call.site.name
  const refused = self === linker ? await prepareRound(context, 'pairs') : undefined
  if (refused) return refused
  const pairs = await loadBytes(call, doc.id, linker, 'pairs')
  if (!pairs) throw new Error(`the pairs of ${doc.id} are missing`)
  const size_of_other = sizes[findOtherParty(agreement, self)] ?? 0
  const isFirst = self === parties[0]
  return { by: 'vectors', linker, pairs, isFirst, size_of_other, parameters: getClkParameters(context) }
}

async function loadIntegers(call: Call, id: string, from: string, set: string): Promise<Int32Array> {
  const bytes = await loadBytes(call, id, from, set)
  if (!bytes) throw new Error(`the ${set} of ${id} are missing`)
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

async function writeFindings(context: ExchangeStepContext, received: ReceivedMatches): Promise<Refusal | undefined> {
  const { call, doc, signal } = context
  const run = await markRunResolving(call, doc.id)
  if (isRefusal(run)) return run
  const max_matches = call.settings(settings).max_matches
  const sites = {
    exchange_id: doc.id,
    self: call.site.name,
    other: findOtherParty(doc.value.agreement, call.site.name),
  }
  const order = await loadItemOrder(context)
  const findings = await performJob(context, 'derive_findings', {
    ...(await loadRecordPieces(context)),
    ...sites,
    order,
    received,
    max_matches,
  })
  if (isRefusal(findings)) return findings
  // The registry of the tenant has records of every label.
  await publishMatches(call.service, run, findings.matches, signal)
  await publishRegistry(call.service, run, findings.clusters, signal)
  const refused = await completeExchangeRun(call, doc.id, buildRunCounts(run, findings))
  call.wake('recluster')
  await call.part(runWork).drop(run.id)
  return refused
}

async function markRunResolving(call: Call, id: string): Promise<Doc<StoredRun> | Refusal> {
  const at = call.nowIso()
  return await changeExchangeRun(call, id, (run) => ({ ...run, state: 'resolving', route: 'links', updated_at: at }))
}

function buildRunCounts({ value: { sources } }: Doc<StoredRun>, result: ExchangeFindingCounts): StoredRun['counts'] {
  return { records: sources.reduce((sum, { records = 0 }) => sum + records, 0), ...result }
}
