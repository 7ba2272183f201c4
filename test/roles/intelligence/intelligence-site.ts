// A site with the intelligence role, and the short ways in which tests raise signals and investigate them.
import { afterAll, beforeAll, expect } from 'vitest'
import type * as z from 'zod'
import type { AnyCollection } from '../../../daemon/kernel/store/store.ts'
import { insights } from '../../../daemon/roles/intelligence/insight/model.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { create } from '../../../daemon/roles/intelligence/signal/create.ts'
import { signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type ProfileSections, startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

export const intelligenceProfile: ProfileSections = {
  platform: { roles: ['site', 'intelligence'] },
  intelligence: { port: 0 },
}

type SignalInput = z.input<typeof create.input>

/** A signal about the first ship by default. */
export function buildSignalInput(more: Partial<SignalInput> = {}): SignalInput {
  return {
    signal_type: 'watchlist_hit',
    source: { type: 'manual', name: 'desk' },
    severity: 'high',
    subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
    title: 'Aurora seen at anchor',
    detected_at: '2026-03-02T11:00:00.000Z',
    ...more,
  }
}

export async function raiseSignal(person: CheckedClient, more: Partial<SignalInput> = {}): Promise<string> {
  return (await person.ok(create, buildSignalInput(more))).uid
}

/** The uid of an insight about the signal. */
export async function openInsight(person: CheckedClient, signal_id: string): Promise<string> {
  return (await person.ok(open, { signal_id, title: 'Why is she there?' })).uid
}

/** Waits until no signal and no insight has pending work for another. */
export async function waitUntilOutboxEmpty(world: TestSite): Promise<void> {
  const store = world.store('intelligence')
  const hasPending = async (of: AnyCollection) => (await store.count(of, { owes: 1 }, { fresh: true })) > 0
  // Pending work moves from insights to signals, and from there to the ledgers of the insights: insights are read twice.
  await waitUntil(
    async () => !((await hasPending(insights)) || (await hasPending(signals)) || (await hasPending(insights))),
  )
}

/** One world for all tests of a file, which must end without a logged error. */
export function setUpIntelligenceSite(settings: Readonly<Record<string, unknown>> = {}): () => TestSite {
  let world: TestSite | undefined
  beforeAll(async () => {
    const { intelligence, ...rest } = intelligenceProfile
    world = await startTestSite({ profile: { ...rest, intelligence: { ...intelligence, ...settings } } })
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}
