// Which calls and messages are about generating a workflow, by declaration: another service adds a kind to the table.

import { splitTerms } from '../../chat/offline/split-terms.ts'
import { aggregatedName } from '../../tool/aggregated-tool.ts'
import { readEffectDraft, readPipelineDraft, type WorkflowDraft } from './draft.ts'

/** The tag of artifacts that are about workflows, whatever their type. */
export const workflow_tag = 'workflow'

/** A kind of workflow: the tools of a service that make, change, remove, run and show one, and words that people use for it. */
export type WorkflowKind = {
  readonly service: string
  readonly object: string
  readonly nouns: readonly string[]
  /** Each reads the draft of a workflow from the arguments of its call. */
  readonly generating: ReadonlyMap<string, (input: unknown) => WorkflowDraft>
  readonly removing: readonly string[]
  /** Their answers show the workflow, or runs of it. */
  readonly showing: readonly string[]
}

const runTools = [
  'datapipeline_run_trigger',
  'datapipeline_run_get',
  'datapipeline_run_status',
  'datapipeline_run_list',
]

const kindOfIngest = (
  object: 'effect' | 'datapipeline',
  nouns: readonly string[],
  create: string,
  read: (input: unknown) => WorkflowDraft,
): WorkflowKind => ({
  ...{ service: 'pipeline-service', object, nouns, removing: [`${object}_delete`] },
  generating: new Map([
    [create, read],
    [`${object}_update`, read],
  ]),
  showing: [...['get', 'status', 'run', 'runs'].map((verb) => `${object}_${verb}`), ...runTools],
})

export const workflowKinds: readonly WorkflowKind[] = [
  kindOfIngest('effect', ['effect', 'workflow', 'dag'], 'effect_create', readEffectDraft),
  kindOfIngest(
    'datapipeline',
    ['datapipeline', 'pipeline', 'workflow', 'dag'],
    'datapipeline_deploy',
    readPipelineDraft,
  ),
]

/** A tool by its service, or under the name by which the gateway offers it. */
export type ToolName = { readonly service?: string | undefined; readonly tool: string }

export type GeneratingTool = {
  readonly kind: WorkflowKind
  readonly tool: string
  readonly read: (input: unknown) => WorkflowDraft
}

/** Undefined for a tool that generates no workflow. */
export function findGeneratingTool(name: ToolName): GeneratingTool | undefined {
  for (const use of findWorkflowUses(name)) if (use.does === 'generate') return use
  return undefined
}

/** What a call of a tool does with workflows of a kind. */
export type WorkflowUse = { readonly kind: WorkflowKind } & (
  | ({ readonly does: 'generate' } & Pick<GeneratingTool, 'tool' | 'read'>)
  | { readonly does: 'remove' | 'show' }
)

const usesByTool: ReadonlyMap<string, readonly WorkflowUse[]> = indexUses()

function indexUses(): Map<string, WorkflowUse[]> {
  const uses = new Map<string, WorkflowUse[]>()
  const add = (tool: string, use: WorkflowUse) => {
    const key = keyOfTool({ service: use.kind.service, tool })
    uses.set(key, [...(uses.get(key) ?? []), use])
  }
  for (const kind of workflowKinds) {
    for (const [tool, read] of kind.generating) add(tool, { does: 'generate', kind, tool, read })
    for (const tool of kind.removing) add(tool, { does: 'remove', kind })
    for (const tool of kind.showing) add(tool, { does: 'show', kind })
  }
  return uses
}

/** By the service, or under the name by which the gateway offers the tool. */
function keyOfTool({ service, tool }: ToolName): string {
  return tool.includes('__') || service === undefined ? tool : aggregatedName({ service, name: tool })
}

/** Empty for a tool that has nothing to do with workflows; the cost does not depend on their number. */
export function findWorkflowUses(name: ToolName): readonly WorkflowUse[] {
  return usesByTool.get(keyOfTool(name)) ?? []
}

/** Actions of intents that make or change something; as stems of the offline chat, and as classes of intents have them. */
const generatingActions = new Set(
  ['create', 'update', 'import', 'transform', 'plan', 'generate', 'build', 'deploy', 'design'].flatMap(formsOf),
)
const workflowNouns = new Set(workflowKinds.flatMap(({ nouns }) => nouns).flatMap(formsOf))

function formsOf(word: string): string[] {
  return [word, ...splitTerms(word)]
}

/** Whether the class of an intent is about making or changing a workflow, such as `create_effect_order`. */
function isGeneratingClass(intent_class: string): boolean {
  const words = intent_class.split(/[^\p{L}\p{N}]+/u)
  return words.some((word) => generatingActions.has(word)) && words.some((word) => workflowNouns.has(word))
}

export type WorkflowIntent = { readonly intent_class?: string | undefined; readonly tools?: readonly ToolName[] }

/** By its class, or by a tool that was chosen. */
export function isGeneratingIntent({ intent_class, tools = [] }: WorkflowIntent): boolean {
  return (intent_class !== undefined && isGeneratingClass(intent_class)) || tools.some(findGeneratingTool)
}

/** Below it a trajectory is not an exemplar. */
const least_success_rate = 0.5

type GuidanceTraits = {
  readonly type: string
  readonly content: Readonly<Record<string, unknown>>
  readonly applicability: { readonly tags: readonly string[] }
}

/**
 * Whether an artifact is for such intents: a pattern from intents to operations, a map of tools of a service that has workflows,
 * the steps of workflows that succeeded, or one that its tags say is about workflows. Its class says for which of them.
 */
export function isWorkflowGuidance({ type, content, applicability }: GuidanceTraits): boolean {
  const { success_rate, service: of } = content
  if (type === 'DecisionTrajectory') return typeof success_rate === 'number' && success_rate >= least_success_rate
  if (type === 'IntentPattern' || applicability.tags.some((tag) => workflowNouns.has(tag.toLowerCase()))) return true
  return type === 'CapabilityMap' && workflowKinds.some(({ service }) => service === of)
}
