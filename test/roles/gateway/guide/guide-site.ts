// A site whose gateway observes: its callers post envelopes, and administrators look at what was learnt.
import { afterAll, beforeAll, expect } from 'vitest'
import type { HttpMethod } from '../../../../daemon/kernel/operation/operation.ts'
import { graphHeads, head_id } from '../../../../daemon/roles/gateway/guide/graph/head-model.ts'
import { observations, type StoredObservation } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { startTestSite, type TestSite, type TokenHolder, waitUntil } from '../../../support/site/test-site.ts'

export const pat: TokenHolder = { subject: 'pat', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
export const emitter: TokenHolder = { subject: 'ann', roles: ['analyst'], clearance: { level: 'TOP_SECRET' } }

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
export type GuideAnswer = { readonly status: number; readonly text: string; readonly body: any }

export type GuideSite = {
  readonly site: TestSite
  readonly events: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[]
  request(who: TokenHolder, method: HttpMethod, path: string, body?: unknown, headers?: object): Promise<GuideAnswer>
  post(who: TokenHolder, body: unknown): Promise<GuideAnswer>
  /** All observations once `count` are stored and in the graphs, in their order. */
  waitForStored(count: number): Promise<StoredObservation[]>
}

export function setUpGuide(guide: object = {}): () => GuideSite {
  let world: GuideSite | undefined
  beforeAll(async () => {
    world = await startGuideSite(guide)
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

async function startGuideSite(guide: object): Promise<GuideSite> {
  const events: GuideSite['events'] = []
  const site = await startTestSite({
    profile: {
      platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
      ...{ gateway: { port: 0 }, guide: { ...guide } },
    },
    onEvent: (event, fields) => void events.push({ event, fields }),
  })
  const request: GuideSite['request'] = async (who, method, path, body, headers = {}) => {
    const sent = { token: await site.token(who), headers: { ...headers } }
    const { status, text, json } = await site.call('gateway', method, path, body, sent)
    return { status, text, body: json }
  }
  const load = async () => {
    const { docs } = await site.store('gateway').list(observations, { limit: 500, fresh: true })
    return docs
      .map(({ value }) => value)
      .sort((one, other) => one.batch_seq - other.batch_seq || one.batch_at - other.batch_at)
  }
  return {
    ...{ site, events, request },
    post: (who, body) => request(who, 'POST', '/api/v1/guide/observations', body),
    async waitForStored(count) {
      await waitUntil(async () => {
        site.wakeWorker('gateway', 'ingest-observations')
        const head = await site.store('gateway').get(graphHeads, head_id)
        return head?.value.state === 'done' && (await load()).length >= count
      })
      return load()
    },
  }
}

export const buildEnvelope = (trace: number, more: object = {}) => ({
  ...{ event_type: 'tool_output', trace_id: trace.toString(16).padStart(32, '0'), service: 'maps' },
  ...{ timestamp: '2026-03-02T11:59:00Z', payload: { tool: 'list', inputs: { limit: 1 } }, ...more },
})
