// Drafts of artifacts for tests.
import type { ArtifactDraft } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'

export function pairingDraft(changes: Partial<ArtifactDraft> = {}): ArtifactDraft {
  return {
    tenant_id: 'alpha',
    type: 'ToolPairingHint',
    content: {
      ...{ tool: 'maps/find', next_tool: 'maps/show', support: 12, success_rate: 0.9, baseline_rate: 0.4 },
      hint: 'Call maps/find before maps/show: the id that it returns is needed.',
    },
    service_name: 'maps',
    rationale: 'maps/show succeeds in 9 of 10 calls after maps/find, and else in 4 of 10.',
    applicability: { intent_class: 'locate', tags: ['maps'] },
    ...changes,
  }
}
