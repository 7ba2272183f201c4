// Artifacts of guidance for tests: sound ones of each type, with what a test is about.
import type { ArtifactContent, ArtifactType } from '../../../daemon/roles/gateway/guide/artifact/content.ts'
import type { Artifact } from '../../../daemon/roles/gateway/guide/artifact/model.ts'

const rates = { support: 20, success_rate: 0.9, baseline_rate: 0.4 }

const contents: { readonly [T in ArtifactType]: ArtifactContent<T> } = {
  DecisionGraph: { graph_id: 'intent_tool_graph', snapshot_id: 's', node_count: 1, edge_count: 1 },
  DecisionTrajectory: { intent_class: 'map', steps: ['maps/echo'], support: 20, success_rate: 0.9 },
  DriftEvent: { rule: 'unknown_intent', review: 'held' },
  IntentPattern: { intent_class: 'map', words: ['map', 'route'], operations: ['maps/echo'], support: 20 },
  IntentSchema: { intent_class: 'map', schema: { type: 'object' }, support: 20 },
  SchemaDrift: { intent_class: 'map', added: [], removed: [], changed: ['to'] },
  PromptShape: { shape: 'question', support: 20, success_rate: 0.9 },
  ToolPairingHint: { tool: 'maps/echo', next_tool: 'maps/count', ...rates, hint: 'count after echo' },
  FailurePattern: {
    ...{ tool: 'maps/echo', argument: 'scale', value: '0', error: 'no scale', support: 20 },
    ...{ failure_rate: 0.9, baseline_rate: 0.1, advice: 'give a scale above 0' },
  },
  ServiceConnectionHint: { from: 'maps', to: 'tides', ...rates, hint: 'tides needs a place of maps' },
  SpecFragment: { spec_id: 'units', body: 'distances are in metres' },
  PromptShim: { body: 'name the sheet of a map' },
  CapabilityMap: {
    service: 'maps',
    tools: [{ name: 'echo', intent_classes: ['map'], description_override: 'Echoes a map', routing_hint: 'maps' }],
  },
}

/** `content`: on top of the sound one of the type. */
export type ArtifactFields = Omit<Partial<Artifact>, 'type' | 'content'> & {
  readonly content?: Readonly<Record<string, unknown>>
}

export function buildArtifact(type: ArtifactType, { content, ...fields }: ArtifactFields = {}): Artifact {
  return {
    tenant_id: 'alpha',
    uds: { timestamp: 1_000, username: 'pat', visibility: 'tenant' },
    ...{ create_ts: 1_000, update_ts: 1_000, as_of: 1_000, schema_version: 1 },
    ...{ status: 'active', version: 1, prev_version_id: null, change_reason: 'test', actor: 'admin:pat' },
    applicability: { tags: [] },
    ...{ rationale: 'seen 20 times', notes: '', supersedes: [], trace_ids: [] },
    ...{ low_scores: 0, demoted_cycles: 0, is_flagged: false },
    ...fields,
    type,
    content: { ...contents[type], ...content },
  } as Artifact
}
