// Keeps the standing of the sessions in use in memory, so that a contribution costs no reading of the earlier ones.
import type { Call, Site } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { Opinion } from '../combine/opinion.ts'
import { type Contribution, contributionPages, page_size } from '../contribution/model.ts'
import { recentOf } from '../contribution/recent.ts'
import type { StoredSession } from './model.ts'
import { emptyStanding, type Standing, stand } from './standing.ts'

/** Opinions kept in memory over all sessions; about 100 MB at most. */
const max_opinions = 200_000

type Cache = { readonly standings: Map<string, Standing>; opinions: number }

/** One cache for one running site, found by the site itself: nothing global survives a restart within a test. */
const caches = new WeakMap<Site, Cache>()

function cacheOf(site: Site): Cache {
  let cache = caches.get(site)
  if (!cache) {
    cache = { standings: new Map(), opinions: 0 }
    caches.set(site, cache)
  }
  return cache
}

/**
 * The standing of exactly this state of the session, if it is at hand. To be asked inside an update, where the state is
 * the stored one: a standing of any other is dropped.
 */
export function standingAtHand(call: Call, { id, value }: Doc<StoredSession>): Standing | undefined {
  const cache = cacheOf(call.site)
  const known = cache.standings.get(id)
  if (known?.chain === value.chain) return known
  if (known) forget(cache, id, known)
  return value.pages === 0 ? remember(cache, id, replay([], value)) : undefined
}

/** The standing of a session as it was read, from its pages when it is not at hand. A later one at hand stays there. */
export async function standingOf(call: Call, doc: Doc<StoredSession>): Promise<Standing> {
  const cache = cacheOf(call.site)
  const known = cache.standings.get(doc.id)
  if (known?.chain === doc.value.chain) return known
  const pages: Contribution[] = []
  for (let page = 0; page < doc.value.pages; page++) {
    const { value } = await call.store(contributionPages).get(pageId(doc.id, page))
    pages.push(...value.contributions)
  }
  const read = replay(pages, doc.value)
  const held = cache.standings.get(doc.id)
  return held && held.digests.size >= read.digests.size ? read : remember(cache, doc.id, read)
}

/** Whether the oldest full page of `recent` is known to be stored, so that a contribution may drop it. */
export function isPageStored(call: Call, { id, value }: Doc<StoredSession>): boolean {
  return (cacheOf(call.site).standings.get(id)?.pages_stored ?? 0) > value.pages
}

/** Stores the oldest full page of `recent`, so that a later contribution may drop it from the session. Idempotent. */
export async function storePage(call: Call, { id, value }: Doc<StoredSession>): Promise<void> {
  const contributions = recentOf(value).slice(0, page_size)
  const page = { tenant_id: value.tenant_id, label: value.label, session_id: id, page: value.pages, contributions }
  await call.store(contributionPages).create(pageId(id, value.pages), page)
  // What is at hand by now may be of a later state: a page, once stored, is the same for all of them.
  const standing = cacheOf(call.site).standings.get(id)
  if (standing) standing.pages_stored = Math.max(standing.pages_stored, value.pages + 1)
}

export function pageId(session_id: string, page: number): string {
  return `${session_id}:${String(page).padStart(6, '0')}`
}

/** Takes an accepted contribution into the standing at hand. */
export function keep(
  call: Call,
  standing: Standing,
  given: Contribution,
  chain: string,
  sorted: readonly Opinion[],
): void {
  stand(standing, given, chain, sorted)
  cacheOf(call.site).opinions++
}

/** Makes what an id was claimed for known to those who asked for the claim before it was made. */
export function noteClaim(call: Call, standing: Standing, id: string, digest: string): void {
  if (standing.digests.has(id)) return
  standing.digests.set(id, digest)
  cacheOf(call.site).opinions++
}

function replay(paged: readonly Contribution[], session: StoredSession): Standing {
  const standing = emptyStanding(session.chain)
  for (const contribution of [...paged, ...recentOf(session)]) stand(standing, contribution, session.chain)
  standing.pages_stored = session.pages
  return standing
}

function remember(cache: Cache, id: string, standing: Standing): Standing {
  const before = cache.standings.get(id)
  if (before) forget(cache, id, before)
  cache.standings.set(id, standing)
  cache.opinions += standing.digests.size + 1
  for (const [oldest, held] of cache.standings) {
    if (cache.opinions <= max_opinions || oldest === id) break
    forget(cache, oldest, held)
  }
  return standing
}

function forget(cache: Cache, id: string, standing: Standing): void {
  cache.standings.delete(id)
  cache.opinions -= standing.digests.size + 1
}
