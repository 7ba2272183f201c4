// What the intelligence role holds for the walk over all operations: SECRET, and of tenant alpha.
import { expect, vi } from 'vitest'
import { insights } from '../../../daemon/roles/intelligence/insight/model.ts'
import { signalLogs } from '../../../daemon/roles/intelligence/log/model.ts'
import { signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import type { SmallSite } from '../small-site.ts'

export type IntelligenceObjects = {
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
  /** An edition of `toAttest`. */
  readonly edition: string
}

const classification = { level: 'SECRET', releasable_to: ['alpha', 'bravo'] }

export function sampleSignal(more: Readonly<Record<string, unknown>> = {}) {
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

export const sampleSubject = { type: 'asset', id: 'ship-1', name: 'Aurora' }

/** What the source that small sites have says, as its mapping reads it. */
export const sampleItem = { severity: 'low', title: 'a sample', host: 'ship-1' }

/** A signal as a peer sends it, but for its id. */
export const peerSignal = {
  ...{ signal_type: 'watchlist_hit', severity: 'high', title: 'seen', subject: sampleSubject },
  ...{ source: { type: 'computed' }, detected_at: '2026-03-02T11:00:00.000Z' },
}

export const sampleEdition = { title: 'What we know', summary: 'Engine trouble.', closes: false }

export async function intelligenceObjects(site: SmallSite, token: string): Promise<IntelligenceObjects> {
  const post = async (path: string, body: unknown) => {
    const { status, text, json } = await site.ask('intelligence', {
      method: 'POST',
      path: `/api/v1${path}`,
      token,
      body,
    })
    expect([200, 201], text).toContain(status)
    return json as { uid: string; editions: { edition_id: string }[] }
  }
  const raised = async () => (await post('/signal', sampleSignal())).uid
  const opened = async (signal_id: string) => (await post('/insight', { signal_id, title: 'Why?' })).uid
  const signal = await raised()
  const toAttest = await opened(signal)
  const dismissed = await raised()
  await post(`/signal/${dismissed}/archive`, {})
  const made = {
    signal,
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
  await vi.waitFor(() => settled(site), { timeout: 60_000 })
  return made
}

/** Asked all at the same time: what one of them hands on to another is owed by at least one of them. */
async function settled(site: SmallSite): Promise<void> {
  const { store } = site.running.services.find(({ role }) => role.name === 'intelligence')?.workshop ?? {}
  const owing = ([insights, signals, signalLogs] as const).map((each) => store?.count(each, { owes: 1 }))
  expect(await Promise.all([...owing, store?.count(signals, { unlogged: 1 })])).toEqual([0, 0, 0, 0])
}
