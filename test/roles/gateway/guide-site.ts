// A site with the gateway: its callers post envelopes, the curator proposes artifacts, and administrators of two tenants and
// levels look at what was learnt.
import { afterAll, beforeAll, expect } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type { HttpMethod } from '../../../daemon/kernel/operation/operation.ts'
import { type ArtifactDraft, proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { graphHeads, head_id } from '../../../daemon/roles/gateway/guide/graph/head-model.ts'
import { observations, type StoredObservation } from '../../../daemon/roles/gateway/guide/observation/model.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import {
  type ProfileSections,
  startTestSite,
  type TestSite,
  type TokenHolder,
  waitUntil,
} from '../../support/site/test-site.ts'

export const admin: TokenHolder = { subject: 'ada', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
export const otherAdmin: TokenHolder = { ...admin, subject: 'otto', tenant: 'tenant-b' }
export const lowAdmin: TokenHolder = { ...admin, subject: 'lou', clearance: { level: 'UNCLASSIFIED' } }
export const emitter: TokenHolder = { subject: 'ann', roles: ['analyst'], clearance: { level: 'TOP_SECRET' } }
export const curator = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

export type GuideSite = {
  readonly site: TestSite
  readonly events: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** As a worker of the gateway. */
  readonly call: Call
  /** Proposes an artifact of the tenant of the site; the id. */
  propose(changes?: Partial<ArtifactDraft>): Promise<string>
  /** `at`: a path, or what follows `/api/v1/guide/`. */
  request(
    who: TokenHolder,
    method: HttpMethod,
    at: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GuideAnswer>
  /** Posts envelopes. */
  post(who: TokenHolder, body: unknown): Promise<GuideAnswer>
  /** All observations once `count` are stored and in the graphs, in their order. */
  waitForStored(count: number): Promise<StoredObservation[]>
}

export type GuideAnswer = {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
  readonly body: any
  readonly etag: string | null
}

/** One site for all tests of a file, which must end without a logged error. */
export function setUpGuide(guide: object = {}): () => GuideSite {
  let world: GuideSite | undefined
  beforeAll(async () => {
    world = await startGuideSite({ ...guide })
  })
  afterAll(async () => {
    await world?.site.end()
    expect(world?.site.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the site has not been started')
    return world
  }
}

/** `more`: further sections of the profile. */
export async function startGuideSite(
  guide: Readonly<Record<string, unknown>> = {},
  more: ProfileSections = {},
): Promise<GuideSite> {
  const events: GuideSite['events'] = []
  const site = await startTestSite({
    profile: {
      platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
      gateway: { port: 0 },
      guide,
      ...more,
    },
    onEvent: (event, fields) => void events.push({ event, fields }),
  })
  let ids = 0
  const random = (bytes: number) => (++ids).toString(16).padStart(bytes * 2, '0')
  const call = createGuideCall({ store: site.store('gateway'), now: () => site.clock.now(), random })
  const request: GuideSite['request'] = async (who, method, at, body, headers = {}) => {
    const sent = { token: await site.token(who), headers }
    const path = at.startsWith('/') ? at : `/api/v1/guide/${at}`
    const answer = await site.call('gateway', method, path, body, sent)
    return { status: answer.status, text: answer.text, body: answer.json, etag: answer.headers.get('etag') }
  }
  return {
    ...{ site, events, call, request },
    async propose(changes = {}) {
      const proposed = await proposeArtifact(call, pairingDraft({ tenant_id: site.tenant, ...changes }), curator)
      if (isRefusal(proposed)) throw proposed
      return proposed.doc.id
    },
    post: (who, body) => request(who, 'POST', 'observations', body),
    async waitForStored(count) {
      await waitUntil(async () => {
        site.wakeWorker('gateway', 'ingest-observations')
        const head = await site.store('gateway').get(graphHeads, head_id)
        return head?.value.state === 'done' && (await loadObservations(site)).length >= count
      })
      return loadObservations(site)
    },
  }
}

async function loadObservations(site: TestSite): Promise<StoredObservation[]> {
  const { docs } = await site.store('gateway').list(observations, { limit: 500, fresh: true })
  return docs
    .map(({ value }) => value)
    .sort((one, other) => one.batch_seq - other.batch_seq || one.batch_at - other.batch_at)
}

export const buildEnvelope = (trace: number, more: object = {}) => ({
  ...{ event_type: 'tool_output', trace_id: trace.toString(16).padStart(32, '0'), service: 'maps' },
  ...{ timestamp: '2026-03-02T11:59:00Z', payload: { tool: 'list', inputs: { limit: 1 } }, ...more },
})
