// Good requests about guidance, and scenarios for its refusals.
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { buildArtifact } from '../guide/artifacts.ts'
import { openTooManyStreams } from './hub-refusals.ts'
import type { OperationSamples } from './operation-samples.ts'
import type { RefusalScenario } from './session-requests.ts'

const label = { categories: [], level: 'SECRET', originator: 'alpha', policy: 'SITE', releasable_to: ['alpha'] }

export const guidanceSamples: OperationSamples = {
  async 'gateway.guide.artifact.stats'({ site }) {
    const gateway = site.running.services.find(({ role }) => role.name === 'gateway')
    const value = buildArtifact('PromptShim', { tenant_id: 'alpha', label })
    await gateway?.context.store.create(artifacts, 'artifact_of_the_walk', value)
    return { input: { artifact_id: 'artifact_of_the_walk' } }
  },
}

export const guidanceRefusals: Record<string, RefusalScenario> = {
  'gateway.guide.guidance.stream rate_limited': (stage) =>
    openTooManyStreams(stage, '/api/v1/guide/guidance/stream', 'gateway'),
}
