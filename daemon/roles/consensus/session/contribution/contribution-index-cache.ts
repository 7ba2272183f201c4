// Caches the contribution index of the sessions in use, so that a contribution need not read the earlier ones again.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Site } from '../../../../kernel/role/site.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Opinion } from '../../combine/opinion.ts'
import type { StoredSession } from '../model.ts'
import {
  addToIndex,
  type ContributionIndex,
  type ContributionView,
  emptyContributionIndex,
  viewSession,
} from './contribution-index.ts'
import { loadContributionPages } from './contribution-pages.ts'
import type { Contribution } from './model.ts'
import { expandRecent } from './recent-contribution.ts'

/** Opinions cached over all sessions; about 100 MB at most. */
const max_opinions = 200_000

type ContributionIndexCache = { readonly indexes: Map<string, ContributionIndex>; opinions: number }

/** One cache for one running site, found by the site itself: nothing global survives a restart within a test. */
const caches = new WeakMap<Site, ContributionIndexCache>()

function cacheOf(site: Site): ContributionIndexCache {
  let cache = caches.get(site)
  if (!cache) {
    cache = { indexes: new Map(), opinions: 0 }
    caches.set(site, cache)
  }
  return cache
}

/**
 * The contributions of exactly this state of the session, as far as they are in memory; undefined when the index must be
 * loaded first. Changes nothing, so that a step of `store.update` may call it and run again.
 */
export function cachedContributionView(call: Call, { id, value }: Doc<StoredSession>): ContributionView | undefined {
  const cached = cacheOf(call.site).indexes.get(id)
  const view = cached && viewSession(cached, value)
  if (view || value.pages > 0) return view
  return viewSession(emptyContributionIndex(value.contributions === 0 ? value.chain : ''), value)
}

/**
 * The index of a session as it was read, from its pages when the cached one cannot be used. The cache keeps whichever
 * describes the later state.
 */
export async function loadContributionIndex(call: Call, doc: Doc<StoredSession>): Promise<ContributionIndex> {
  const cache = cacheOf(call.site)
  const cached = cache.indexes.get(doc.id)
  if (cached && catchUp(cache, cached, doc.value)) return cached
  const paged = await loadContributionPages(call, doc.id, 0, doc.value.pages)
  const loaded = buildIndex(paged, doc.value)
  const current = cache.indexes.get(doc.id)
  if (!current || current.contributions < loaded.contributions) cacheIndex(cache, doc.id, loaded)
  return loaded
}

/** The same for an update that could not use the cached index: one that belongs to another state is dropped first. */
export async function reloadContributionIndex(call: Call, doc: Doc<StoredSession>): Promise<void> {
  const cache = cacheOf(call.site)
  const cached = cache.indexes.get(doc.id)
  if (cached && !catchUp(cache, cached, doc.value)) evictIndex(cache, doc.id, cached)
  await loadContributionIndex(call, doc)
}

export type IndexedContribution = {
  /** `chain` of the session before the contribution. */
  readonly previous_chain: string
  readonly contribution: Contribution
  /** The standing opinions with the contribution among them. */
  readonly sorted: readonly Opinion[]
}

/** Brings the cached index to the state that an accepted contribution led to. Call it once the update has resolved. */
export function cacheContribution(call: Call, { id, value }: Doc<StoredSession>, added: IndexedContribution): void {
  const cache = cacheOf(call.site)
  const cached = cache.indexes.get(id)
  if (cached && cached.contributions >= value.contributions) return
  if (cached?.chain === added.previous_chain) {
    addToIndex(cached, added.contribution, value.chain, added.sorted)
    cache.opinions++
  } else if (!(cached && catchUp(cache, cached, value)) && value.pages === 0) {
    cacheIndex(cache, id, buildIndex([], value))
  }
}

/** Makes a claimed id known to calls that looked for the claim before it was made. */
export function cacheClaim(call: Call, session_id: string, id: string, digest: string): void {
  const cache = cacheOf(call.site)
  const cached = cache.indexes.get(session_id)
  if (!cached || cached.digests.has(id)) return
  cached.digests.set(id, digest)
  cache.opinions++
}

/** Whether the oldest full page of `recent` is known to be stored, so that a contribution may drop it. */
export function isContributionPageStored(call: Call, { id, value }: Doc<StoredSession>): boolean {
  return (cacheOf(call.site).indexes.get(id)?.pages_stored ?? 0) > value.pages
}

/** Records that the page after the session's own pages is stored; the cached index may be of a later state by now. */
export function cacheStoredPage(call: Call, { id, value }: Doc<StoredSession>): void {
  const cached = cacheOf(call.site).indexes.get(id)
  if (cached) cached.pages_stored = Math.max(cached.pages_stored, value.pages + 1)
}

/** Adds the recent contributions that the index lacks; false when they do not lead to this state of the session. */
function catchUp(cache: ContributionIndexCache, index: ContributionIndex, session: StoredSession): boolean {
  if (index.chain === session.chain) return true
  const missing = session.contributions - index.contributions
  if (missing <= 0 || missing > session.recent.length) return false
  const added = expandRecent(session).slice(-missing)
  const chain = added.reduce((before, { digest }) => sha256(before + digest), index.chain)
  if (chain !== session.chain) return false
  for (const contribution of added) addToIndex(index, contribution, chain)
  cache.opinions += missing
  return true
}

function buildIndex(paged: readonly Contribution[], session: StoredSession): ContributionIndex {
  const index = emptyContributionIndex(session.chain)
  for (const contribution of [...paged, ...expandRecent(session)]) addToIndex(index, contribution, session.chain)
  index.pages_stored = session.pages
  return index
}

function cacheIndex(cache: ContributionIndexCache, id: string, index: ContributionIndex): void {
  const before = cache.indexes.get(id)
  if (before) evictIndex(cache, id, before)
  cache.indexes.set(id, index)
  cache.opinions += index.digests.size + 1
  for (const [oldest, candidate] of cache.indexes) {
    if (cache.opinions <= max_opinions || oldest === id) break
    evictIndex(cache, oldest, candidate)
  }
}

function evictIndex(cache: ContributionIndexCache, id: string, index: ContributionIndex): void {
  cache.indexes.delete(id)
  cache.opinions -= index.digests.size + 1
}
