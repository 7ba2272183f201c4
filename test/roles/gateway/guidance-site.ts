// A chat with artifacts in its store, and a service of tools that is an agent or a library.
import { afterAll, beforeAll, expect } from 'vitest'
import type { ArtifactType } from '../../../daemon/roles/gateway/guide/artifact/content.ts'
import { type Artifact, artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { register } from '../../../daemon/roles/gateway/registration/register.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { type ArtifactFields, buildArtifact } from '../../support/guide/artifacts.ts'
import { type LibraryService, startLibraryService } from '../../support/mcp/library-service.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ann, type ChatWorld, type ChatWorldOptions, startChatWorld } from './chat-site.ts'

const patience_ms = 15_000

export type GuidanceWorld = ChatWorld & {
  readonly service: LibraryService
  /** Registers the service, and accepts its tools `echo` and `count`. */
  offer(component_kind: 'agent' | 'library'): Promise<void>
  /** Writes an artifact as another process would. */
  put(id: string, type: ArtifactType, fields?: ArtifactFields): Promise<void>
  change(id: string, change: (current: Artifact) => Artifact): Promise<void>
  /** Ids of the artifacts that a response of the chat has, once these are the ones. */
  waitForIds(...ids: string[]): Promise<void>
}

export async function startGuidanceWorld(options: ChatWorldOptions = {}): Promise<GuidanceWorld> {
  // Every set is whole: tests name the artifacts that they expect.
  const guide = { holdout_enabled: false, ...options.profile?.guide }
  const world = await startChatWorld({ ...options, profile: { ...options.profile, guide } })
  const service = await startLibraryService('2026-07-28')
  service.serviceInfo = { name: 'maps', mcp_path: '/mcp', tools_count: 4 }
  const { site } = world
  const now = () => site.clock.now()
  return {
    ...{ ...world, service },
    async offer(component_kind) {
      const url = service.url.origin
      const registrant = await site.as({ subject: 'svc', roles: ['service'] })
      await registrant.ok(register, { name: 'maps', url, ttl_seconds: 86_400, component_kind })
      const admin = await site.as({ subject: 'pat', roles: ['admin'] })
      const authentication = 'none'
      const { tools, url: reviewed } = await admin.ok(review, { name: 'maps', authentication })
      const read = tools.flatMap(({ name, sha256 = '' }) => (/^(echo|count)$/.test(name) ? [{ name, sha256 }] : []))
      await admin.ok(accept, { name: 'maps', url: reviewed, authentication, tools: read })
    },
    async put(id, type, fields = {}) {
      const times = { create_ts: now(), update_ts: now(), as_of: now() }
      const value = buildArtifact(type, { tenant_id: site.tenant, ...times, ...fields })
      await site.store('gateway').create(artifacts, id, value)
    },
    async change(id, change) {
      await site
        .store('gateway')
        .update(artifacts, id, ({ value }) => ({ next: { ...change(value), update_ts: now() }, answer: undefined }))
    },
    async waitForIds(...ids) {
      let last: string[] = []
      const look = async () => {
        site.clock.advance(1_000)
        last = idsOf((await world.say(ann, { message: 'hello' })).body.guide_guidance)
        return JSON.stringify(last) === JSON.stringify(ids)
      }
      await waitUntil(look, patience_ms).catch(() => expect(last).toEqual(ids))
    },
    async end() {
      await world.end()
      await service.close()
    },
  }
}

/** Of the artifacts of guidance in an answer. */
export function idsOf(guidance: { readonly artifacts: readonly { readonly id: string }[] } | null): string[] {
  return guidance?.artifacts.map(({ id }) => id) ?? []
}

export function setUpGuidance(options: ChatWorldOptions = {}): () => GuidanceWorld {
  let world: GuidanceWorld | undefined
  beforeAll(async () => {
    world = await startGuidanceWorld(options)
  })
  afterAll(() => world?.end())
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}
