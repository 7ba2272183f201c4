// Settles what a site has learnt: matches and clusters of a private run, or the peer's records for a run as any other.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { publishMatches } from '../fusion-run/publish.ts'
import { runWork } from '../parts.ts'
import { publishRegistry } from '../registry/publish.ts'
import { settings } from '../settings.ts'
import { otherParty } from './agreement.ts'
import type { Learnt, Told } from './deeds.ts'
import { runOf } from './model.ts'
import { bytesOf, textsOf } from './pieces.ts'
import { type Material, orderOf, parametersOf, perform, prepare, seen } from './preparing.ts'
import { moveRun } from './run-of-exchange.ts'

/** May be done again: everything is written under ids that follow from what it is about. */
export async function settle(given: Material): Promise<Refused | undefined> {
  const { call, doc } = given
  const { agreement } = doc.value
  const isParty = agreement.parties.includes(call.site.name)
  if (isParty && (await call.store(fusionRuns).get(runOf(doc.id))).value.state === 'completed') return undefined
  if (!agreement.learns.includes(call.site.name)) return isParty ? await nothingLearnt(given) : undefined
  if (agreement.privacy === 'none') return await handOver(given)
  const told = agreement.privacy === 'psi' ? await sharedKeys(given) : await alikeVectors(given)
  return isRefused(told) ? told : await write(given, told)
}

async function nothingLearnt({ call, doc }: Material): Promise<Refused | undefined> {
  return await completeRun(call, doc.id, { records: doc.value.sizes[call.site.name] ?? 0 })
}

/** Both sides' records as nodes of a run of this site, which is carried out as any other: by the same lens, to the same result. */
async function handOver(given: Material): Promise<Refused | undefined> {
  const { call, doc, lens } = given
  const { agreement, sizes, own = '' } = doc.value
  const run = await call.store(fusionRuns).find(runOf(doc.id))
  if (run && (run.value.owes === 1 || run.value.attempts > 0)) return undefined
  const self = call.site.name
  const sets = await Promise.all(
    agreement.parties.toSorted().map(async (site) => {
      const pieces = await textsOf(call, doc.id, site, site === self ? own : 'records')
      if (!pieces) throw new Error(`the records of ${site} are not all here`)
      return { site, size: sizes[site] ?? 0, pieces }
    }),
  )
  const kept = await perform(given, 'hand', { lens, fields: agreement.fields, sets })
  if (isRefused(kept)) return kept
  const at = call.nowIso()
  const moved = await moveRun(call, doc.id, (now) => ({ ...now, state: 'pending', owes: 1, updated_at: at }))
  return isRefused(moved) ? moved : undefined
}

/** Keys that both have; what stands for the other's records is the key's place in the set of the one that was told last. */
async function sharedKeys(given: Material): Promise<Told | Refused> {
  const { call, doc } = given
  const { learns, parties } = doc.value.agreement
  const isFinder = call.site.name === (learns.includes(parties[0]) ? parties[0] : parties[1])
  const refused = isFinder ? await prepare(given, 'places') : undefined
  if (refused) return refused
  const other = otherParty(doc.value.agreement, call.site.name)
  const theirs = await numbers(call, doc.id, isFinder ? call.site.name : other, 'places')
  const ours = isFinder ? await numbers(call, doc.id, call.site.name, 'met') : theirs
  return { by: 'keys', other, met: { ours, theirs } }
}

async function alikeVectors(given: Material): Promise<Told | Refused> {
  const { call, doc } = given
  const { agreement, sizes } = doc.value
  const { parties, linker = '' } = agreement
  const self = call.site.name
  const refused = self === linker ? await prepare(given, 'pairs') : undefined
  if (refused) return refused
  const pairs = await bytesOf(call, doc.id, linker, 'pairs')
  if (!pairs) throw new Error(`the pairs of ${doc.id} are not here`)
  const size_of_other = sizes[otherParty(agreement, self)] ?? 0
  const isFirst = self === parties[0]
  return { by: 'vectors', linker, pairs, isFirst, size_of_other, parameters: parametersOf(given) }
}

async function numbers(call: Call, id: string, from: string, what: string): Promise<Int32Array> {
  const bytes = await bytesOf(call, id, from, what)
  if (!bytes) throw new Error(`the ${what} of ${id} are not here`)
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

async function write(given: Material, told: Told): Promise<Refused | undefined> {
  const { call, doc, signal } = given
  const run = await resolving(call, doc.id)
  if (isRefused(run)) return run
  const max_matches = call.settings(settings).max_matches
  const names = { exchange_id: doc.id, self: call.site.name, other: otherParty(doc.value.agreement, call.site.name) }
  const order = await orderOf(given)
  const found = await perform(given, 'learn', { ...(await seen(given)), ...names, order, told, max_matches })
  if (isRefused(found)) return found
  await publishMatches(call, run, found.matches, signal)
  await publishRegistry(call, run, found.clusters, signal)
  const refused = await completeRun(call, doc.id, countsOf(run, found))
  call.wake('settle')
  await call.part(runWork).drop(run.id)
  return refused
}

async function resolving(call: Call, id: string): Promise<Doc<StoredRun> | Refused> {
  const at = call.nowIso()
  return await moveRun(call, id, (now) => ({ ...now, state: 'resolving', route: 'links', updated_at: at }))
}

function countsOf({ value: { sources } }: Doc<StoredRun>, found: Learnt): StoredRun['counts'] {
  return { records: sources.reduce((sum, { records = 0 }) => sum + records, 0), ...found }
}

async function completeRun(call: Call, id: string, counts: StoredRun['counts']): Promise<Refused | undefined> {
  const at = call.nowIso()
  const ends = { updated_at: at, ended_at: at, files_until_ts: call.now() }
  const done = await moveRun(call, id, (now) => ({ ...now, state: 'completed', counts, ...ends }))
  return isRefused(done) ? done : undefined
}
