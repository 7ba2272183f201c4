// Keeps the standing of the sessions in use in memory, so that a contribution costs no reading of the earlier ones.
import type { Call, Site } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Opinion } from '../../combine/opinion.ts'
import type { StoredSession } from '../model.ts'
import { addToIndex, type ContributionIndex, emptyContributionIndex } from './contribution-index.ts'
import { type Contribution, contributionPages, page_size } from './model.ts'
import { expandRecent } from './recent-contribution.ts'

/** Opinions kept in memory over all sessions; about 100 MB at most. */
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
 * The standing of exactly this state of the session, if it is at hand. To be asked inside an update, where the state is
 * the stored one: a standing of any other is dropped.
 */
export function cachedContributionIndex(call: Call, { id, value }: Doc<StoredSession>): ContributionIndex | undefined {
  const cache = cacheOf(call.site)
  const known = cache.indexes.get(id)
  if (known?.chain === value.chain) return known
  if (known) evictIndex(cache, id, known)
  return value.pages === 0 ? cacheIndex(cache, id, rebuildIndex([], value)) : undefined
}

/** The standing of a session as it was read, from its pages when it is not at hand. A later one at hand stays there. */
export async function loadContributionIndex(call: Call, doc: Doc<StoredSession>): Promise<ContributionIndex> {
  const cache = cacheOf(call.site)
  const known = cache.indexes.get(doc.id)
  if (known?.chain === doc.value.chain) return known
  const pages: Contribution[] = []
  for (let page = 0; page < doc.value.pages; page++) {
    const { value } = await call.store(contributionPages).get(contributionPageId(doc.id, page))
    pages.push(...value.contributions)
  }
  const read = rebuildIndex(pages, doc.value)
  const held = cache.indexes.get(doc.id)
  return held && held.digests.size >= read.digests.size ? read : cacheIndex(cache, doc.id, read)
}

/** Whether the oldest full page of `recent` is known to be stored, so that a contribution may drop it. */
export function isContributionPageStored(call: Call, { id, value }: Doc<StoredSession>): boolean {
  return (cacheOf(call.site).indexes.get(id)?.pages_stored ?? 0) > value.pages
}

/** Stores the oldest full page of `recent`, so that a later contribution may drop it from the session. Idempotent. */
export async function storeContributionPage(call: Call, { id, value }: Doc<StoredSession>): Promise<void> {
  const contributions = expandRecent(value).slice(0, page_size)
  const page = { tenant_id: value.tenant_id, label: value.label, session_id: id, page: value.pages, contributions }
  await call.store(contributionPages).create(contributionPageId(id, value.pages), page)
  // What is at hand by now may be of a later state: a page, once stored, is the same for all of them.
  const standing = cacheOf(call.site).indexes.get(id)
  if (standing) standing.pages_stored = Math.max(standing.pages_stored, value.pages + 1)
}

export function contributionPageId(session_id: string, page: number): string {
  return `${session_id}:${String(page).padStart(6, '0')}`
}

/** Takes an accepted contribution into the standing at hand. */
export function cacheContribution(
  call: Call,
  standing: ContributionIndex,
  given: Contribution,
  chain: string,
  sorted: readonly Opinion[],
): void {
  addToIndex(standing, given, chain, sorted)
  cacheOf(call.site).opinions++
}

/** Makes what an id was claimed for known to those who asked for the claim before it was made. */
export function cacheClaim(call: Call, standing: ContributionIndex, id: string, digest: string): void {
  if (standing.digests.has(id)) return
  standing.digests.set(id, digest)
  cacheOf(call.site).opinions++
}

function rebuildIndex(paged: readonly Contribution[], session: StoredSession): ContributionIndex {
  const standing = emptyContributionIndex(session.chain)
  for (const contribution of [...paged, ...expandRecent(session)]) addToIndex(standing, contribution, session.chain)
  standing.pages_stored = session.pages
  return standing
}

function cacheIndex(cache: ContributionIndexCache, id: string, standing: ContributionIndex): ContributionIndex {
  const before = cache.indexes.get(id)
  if (before) evictIndex(cache, id, before)
  cache.indexes.set(id, standing)
  cache.opinions += standing.digests.size + 1
  for (const [oldest, held] of cache.indexes) {
    if (cache.opinions <= max_opinions || oldest === id) break
    evictIndex(cache, oldest, held)
  }
  return standing
}

function evictIndex(cache: ContributionIndexCache, id: string, standing: ContributionIndex): void {
  cache.indexes.delete(id)
  cache.opinions -= standing.digests.size + 1
}
