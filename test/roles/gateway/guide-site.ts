// A site with the gateway, administrators of two tenants and levels, and artifacts that the curator has proposed.
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { type ArtifactDraft, proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import { createTestSite, type ProfileSections, type TestSite, type TokenHolder } from '../../support/site/test-site.ts'

export const admin: TokenHolder = { subject: 'ada', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
export const otherAdmin: TokenHolder = { ...admin, subject: 'otto', tenant: 'tenant-b' }
export const lowAdmin: TokenHolder = { ...admin, subject: 'lou', clearance: { level: 'UNCLASSIFIED' } }
export const curator = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

export type GuideSite = {
  readonly site: TestSite
  /** As a worker of the gateway. */
  readonly call: Call
  /** Proposes an artifact of the tenant of the site; the id. */
  propose(changes?: Partial<ArtifactDraft>): Promise<string>
  request(
    who: TokenHolder,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    at: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GuideAnswer>
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
export type GuideAnswer = { readonly status: number; readonly body: any; readonly etag: string | null }

/** `more`: further sections of the profile. */
export async function startGuideSite(
  guide: Readonly<Record<string, unknown>> = {},
  more: ProfileSections = {},
): Promise<GuideSite> {
  const site = await createTestSite({
    profile: {
      platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
      gateway: { port: 0 },
      guide,
      ...more,
    },
  })
  await site.start()
  let ids = 0
  const random = (bytes: number) => (++ids).toString(16).padStart(bytes * 2, '0')
  const call = createGuideCall({ store: site.store('gateway'), now: () => site.clock.now(), random })
  return {
    ...{ site, call },
    async propose(changes = {}) {
      const proposed = await proposeArtifact(call, pairingDraft({ tenant_id: site.tenant, ...changes }), curator)
      if (isRefusal(proposed)) throw proposed
      return proposed.doc.id
    },
    async request(who, method, at, body, headers = {}) {
      const sent = { token: await site.token(who), headers }
      const answer = await site.call('gateway', method, `/api/v1/guide/${at}`, body, sent)
      return { status: answer.status, body: answer.json, etag: answer.headers.get('etag') }
    },
  }
}
