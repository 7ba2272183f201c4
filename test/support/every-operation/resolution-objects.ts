// Objects of the resolution role for the walk over all operations: one of each kind, SECRET and of tenant alpha.
import { expect, vi } from 'vitest'
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { clusterUid } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import { seedRegistry } from '../../roles/resolution/seed-registry.ts'
import type { SingleClusterSite } from '../site/single-cluster-site.ts'

export type ResolutionFixture = {
  readonly lens: string
  readonly binding: string
  readonly match: string
  /** A match that a session is open for. */
  readonly ruled: string
  readonly cluster: string
  readonly arrival: string
  /** An entity of the lens `removable`, which no run is open for; a record of it is `north/1`, another one `north/2`. */
  readonly removable: string
  /** Runs by how far they are. */
  readonly run: string
  readonly extracted: string
  readonly matched: string
  readonly doomed: string
  /** Proposed to bravo; the other is for cancelling. */
  readonly exchange: string
  readonly doomedExchange: string
  /** Proposed by bravo. */
  readonly proposedByBravo: string
}

const classification = { level: 'SECRET', releasable_to: ['alpha', 'bravo'] }

const lensFields = [
  { name: 'given_name', type: 'name' },
  { name: 'surname', type: 'name' },
]

export const sampleSession = `ses_${'c'.repeat(32)}`

export function buildLens(version: string) {
  return { lens: 'people', version, entity_type: 'person', fields: lensFields }
}

const givenNames = ['Ada', 'Boris', 'Chidi', 'Dana', 'Emeka', 'Farid', 'Greta', 'Hiro', 'Ingrid', 'Jonas']
const surnames = [
  'Petrov',
  'Okafor',
  'Lindqvist',
  'Marchetti',
  'Yamada',
  'Haddad',
  'Novak',
  'Brandt',
  'Silva',
  'Kowalski',
]

/** The same ten people at two nodes. */
export function buildRunInput(more: Readonly<Record<string, unknown>> = {}) {
  const people = surnames.map((surname, at) => ({ id: String(at), given_name: givenNames[at], surname }))
  return { lens_id: 'people', lens_version: '1.0.0', node_data: { a: people, b: people }, classification, ...more }
}

/** Ada once more, at a third node. */
export function buildArrivalInput(more: Readonly<Record<string, unknown>> = {}) {
  const records = [{ id: '0', given_name: givenNames[0], surname: surnames[0] }]
  return { lens_id: 'people', node_id: 'c', records, classification, ...more }
}

export const exchangeTerms = {
  fields: ['given_name', 'surname'],
  privacy: 'psi',
  learns: ['alpha', 'bravo'],
  max_set_size: 100,
}
const people = surnames.map((surname, at) => ({ id: String(at), given_name: givenNames[at], surname }))

export function buildProposalInput(more: Readonly<Record<string, unknown>> = {}) {
  const proposal = { peer: 'bravo', lens_id: 'people', lens_version: '1.0.0', data: people, classification }
  return { ...proposal, ...exchangeTerms, ...more }
}

/** Bravo's proposal of an exchange. */
export function buildBravoProposal(exchange_id: string, more: Readonly<Record<string, unknown>> = {}, size = 10) {
  const named = {
    exchange_id,
    lens: 'people',
    lens_version: '1.0.0',
    lens_digest: canonicalDigest(lens.parse(buildLens('1.0.0'))),
  }
  const agreement = {
    ...named,
    parties: ['bravo', 'alpha'],
    ...exchangeTerms,
    accept_dictionary_risk: false,
    max_set_bytes: 1_000_000,
    seed: 1,
    text_form: 2,
    ...more,
  }
  const label = { policy: 'SITE', ...classification, categories: [], originator: 'bravo' }
  return { say: 'proposal', agreement, classification: label, size }
}

export const sampleData = people

type DeliverExchangeMessage = (data: Readonly<Record<string, unknown>>) => Promise<unknown>

/** `tell`: has bravo say something to this site. */
export async function createResolutionFixture(
  site: SingleClusterSite,
  token: string,
  tell: DeliverExchangeMessage,
): Promise<ResolutionFixture> {
  const ask = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const { status, text, json } = await site.request('resolution', { method, path: `/api/v2${path}`, token, body })
    expect([200, 201, 202], text).toContain(status)
    return json as { uid: string; state?: string; items: { uid: string }[] }
  }
  const first = async (path: string) => {
    const { items } = await ask('GET', path)
    if (!items[0]) throw new Error(`${path} is empty`)
    return items[0].uid
  }
  const lensUid = (await ask('POST', '/lens', { body: buildLens('1.0.0'), classification })).uid
  const run = async (path: string, goal: string) => {
    const { uid } = await ask('POST', path, buildRunInput())
    const state = async () => (await ask('GET', `/fusion/run/${uid}/status`)).state
    await vi.waitFor(async () => expect(await state()).toBe(goal), { timeout: 60_000 })
    return uid
  }
  const matched = await run('/fusion/extract', 'extracted')
  await ask('POST', `/fusion/match/${matched}`, {})
  // As the worker notes a session that it opens.
  const ruled = async () => {
    const uid = (await ask('GET', '/entity_match')).items[1]?.uid ?? ''
    const { store } = site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    const open = { session_id: sampleSession, seq: 0, status: 'open' as const, at: '2026-03-02T12:00:00.000Z' }
    await store?.update(entityMatches, uid, ({ value }) => ({ next: { ...value, rulings: [open] }, answer: undefined }))
    return uid
  }
  const removable = async () => {
    const { store } = site.running.services.find(({ role }) => role.name === 'resolution')?.context ?? {}
    if (!store) throw new Error('the site has no role resolution')
    const label = { policy: 'SITE', ...classification, categories: [], originator: 'alpha' }
    const registry = { lens: 'removable', tenant_id: 'alpha', label, clusters: [['1', '3'], ['2']], pairs: [] }
    await seedRegistry({ store: () => store }, registry)
    return clusterUid('alpha', 'removable', { node_id: 'north', record_id: '1' })
  }
  const exchange = async () => (await ask('POST', '/fusion/exchange', buildProposalInput())).uid
  const unknown_id = `xchg_${'a'.repeat(32)}`
  await tell(buildBravoProposal(unknown_id))
  return {
    lens: lensUid,
    exchange: await exchange(),
    doomedExchange: await exchange(),
    proposedByBravo: unknown_id,
    matched,
    extracted: await run('/fusion/extract', 'extracted'),
    doomed: await run('/fusion/extract', 'extracted'),
    run: await run('/fusion/run', 'completed'),
    binding: await first('/lens_binding'),
    match: await first('/entity_match'),
    ruled: await ruled(),
    removable: await removable(),
    cluster: await first('/entity_cluster'),
    arrival: (await ask('POST', '/arrival', buildArrivalInput())).uid,
  }
}
