// Objects of the intelligence role for the walk over all operations: SECRET, and of tenant alpha.
import { expect, vi } from 'vitest'
import { newJob } from '../../../daemon/kernel/job/rules.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { bulks, type StoredBulk } from '../../../daemon/roles/intelligence/bulk/model.ts'
import { signalLogs } from '../../../daemon/roles/intelligence/change-log/model.ts'
import { insights } from '../../../daemon/roles/intelligence/insight/model.ts'
import { signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import type { SingleClusterSite } from '../site/single-cluster-site.ts'

export type IntelligenceFixture = {
  readonly signal: string
  /** New ones, each for one command. */
  readonly toAcknowledge: string
  readonly toDismiss: string
  readonly toArchive: string
  readonly toLink: string
  readonly insight: string
  /** Insights, each for one command. */
  readonly toStart: string
  readonly toAttest: string
  readonly toClose: string
  /** A bulk disposition that is over, and one that is not. */
  readonly bulk: string
  readonly toCancel: string
  readonly survivor: string
  /** Merged into it. */
  readonly merged: string
  readonly silence: string
  readonly toEnd: string
  /** An edition of `toAttest`. */
  readonly edition: string
}

const classification = { level: 'SECRET', releasable_to: ['alpha', 'bravo'] }

export function buildSignalInput(more: Readonly<Record<string, unknown>> = {}) {
  return {
    signal_type: 'watchlist_hit',
    source: { type: 'manual' },
    severity: 'high',
    subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
    title: 'Aurora seen at anchor',
    detected_at: '2026-03-02T11:00:00.000Z',
    classification,
    ...more,
  }
}

/** Of nothing that the walk raises. */
export function buildSilenceInput() {
  const ends_at = new Date(Date.now() + 86_400_000).toISOString()
  return { matchers: { signal_type: ['of a sample'] }, reason: 'sample', ends_at, classification }
}

export const sampleSubject = { type: 'asset', id: 'ship-1', name: 'Aurora' }

/** An alert of the source that small sites have, as its mapping reads it. */
export const sampleItem = { severity: 'low', title: 'a sample', host: 'ship-1' }

/** A signal as a peer sends it, but for its id. */
export const peerSignal = {
  ...{ signal_type: 'watchlist_hit', severity: 'high', title: 'seen', subject: sampleSubject },
  ...{ source: { type: 'computed' }, detected_at: '2026-03-02T11:00:00.000Z' },
}

export const sampleEdition = { title: 'What we know', summary: 'Engine trouble.', closes: false }

export async function createIntelligenceFixture(site: SingleClusterSite, token: string): Promise<IntelligenceFixture> {
  const post = async (path: string, body: unknown) => {
    const { status, text, json } = await site.request('intelligence', {
      method: 'POST',
      path: `/api/v1${path}`,
      token,
      body,
    })
    expect([200, 201], text).toContain(status)
    return json as { uid: string; editions: { edition_id: string }[] }
  }
  const raised = async () => (await post('/signal', buildSignalInput())).uid
  const opened = async (signal_id: string) => (await post('/insight', { signal_id, title: 'Why?' })).uid
  const signal = await raised()
  const toAttest = await opened(signal)
  const dismissed = await raised()
  await post(`/signal/${dismissed}/archive`, {})
  const { store } = site.running.services.find(({ role }) => role.name === 'intelligence')?.context ?? {}
  const [survivor, merged] = [await raised(), await raised()]
  await post(`/signal/${survivor}/merge`, { signal_ids: [merged], rationale: 'sample' })
  const bulk = (await post('/signal-bulk', { signal_ids: [dismissed], disposition: 'dismissed', rationale: 'x' })).uid
  const made = {
    signal,
    silence: (await post('/signal-silence', buildSilenceInput())).uid,
    toEnd: (await post('/signal-silence', buildSilenceInput())).uid,
    survivor,
    merged,
    bulk,
    toCancel: await createUnendingBulk(store, bulk),
    toAcknowledge: await raised(),
    toDismiss: await raised(),
    toArchive: await raised(),
    toLink: await raised(),
    insight: await opened(signal),
    toStart: await opened(await raised()),
    toAttest,
    toClose: await opened(dismissed),
    edition: (await post(`/insight/${toAttest}/edition`, sampleEdition)).editions[0]?.edition_id ?? '',
  }
  await vi.waitFor(() => waitUntilOutboxEmpty(site), { timeout: 60_000 })
  return made
}

/** All queried at the same time: an item handed from one to another is pending in at least one of them. */
async function waitUntilOutboxEmpty(site: SingleClusterSite): Promise<void> {
  const { store } = site.running.services.find(({ role }) => role.name === 'intelligence')?.context ?? {}
  const owing = ([insights, signals, signalLogs] as const).map((each) => store?.count(each, { owes: 1 }))
  const others = [store?.count(bulks, { job_due_ts: { exists: true } }), store?.count(signals, { unlogged: 1 })]
  expect(await Promise.all([...owing, ...others])).toEqual([0, 0, 0, 0, 0])
}

/** One that goes on for ever, as far as anybody can see. */
async function createUnendingBulk(store: Store | undefined, like: string): Promise<string> {
  const value = (await store?.get(bulks, like))?.value
  if (!value) throw new Error('the bulk disposition is not there')
  const { finished_at: _over, ...rest } = value
  const held: StoredBulk = { ...rest, state: 'running', ...newJob(undefined, undefined) }
  await store?.create(bulks, 'blk_held', held)
  return 'blk_held'
}
