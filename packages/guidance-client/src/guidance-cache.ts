// The guidance that a subscriber holds: the newest set of the gateway, in memory alone.
import type { AttachedArtifact, GuidanceBlock } from './guidance-block.ts'
import { compareRanks, rankOf } from './ranking.ts'

/** The intent at hand; without a field, that one narrows nothing. */
export type IntentContext = {
  readonly intent_class?: string | undefined
  readonly tags?: readonly string[] | undefined
}

export type SpecText = { readonly id: string; readonly content: string }
export type ToolOverride = { readonly description_override?: string; readonly routing_hint?: string }
export type GuidanceContent = Readonly<Record<string, unknown>>

/** Its accessors have the names of the interface document. Artifacts of one type come in the order of their ranks. */
export class GuidanceCache {
  #byType: ReadonlyMap<string, readonly AttachedArtifact[]> = new Map()

  /** Replaces the set. Null, as in a response without guidance, empties it: what was demoted must not stay. */
  update(block: GuidanceBlock | null | undefined): void {
    const byType = new Map<string, AttachedArtifact[]>()
    for (const artifact of block?.artifacts ?? [])
      byType.set(artifact.type, [...(byType.get(artifact.type) ?? []), artifact])
    for (const [type, artifacts] of byType) byType.set(type, sortByRank(artifacts))
    this.#byType = byType
  }

  /** Bodies of PromptShim artifacts. */
  get_system_prompt_additions(intent?: IntentContext): readonly string[] {
    return this.#find('PromptShim', intent).flatMap(({ content: { body } }) => (typeof body === 'string' ? [body] : []))
  }

  get_spec_fragments(intent?: IntentContext): readonly SpecText[] {
    return this.#find('SpecFragment', intent).flatMap(({ content: { spec_id, body } }) =>
      typeof spec_id === 'string' && typeof body === 'string' ? [{ id: spec_id, content: body }] : [],
    )
  }

  /** `tool_name`: `<service>/<tool>`, `<service>__<tool>` as the gateway offers it, or the bare name of a tool of the agent itself. */
  get_tool_description_overrides(tool_name: string): ToolOverride | undefined {
    const name = toLabel(tool_name)
    for (const { content } of this.#find('CapabilityMap')) {
      const override = findOverride(content, name)
      if (override) return override
    }
    return undefined
  }

  get_tool_pairing_hints(current_tool: string): readonly GuidanceContent[] {
    const name = toLabel(current_tool)
    return this.#contents('ToolPairingHint').filter(({ tool }) => tool === name)
  }

  get_active_failure_patterns(intent?: IntentContext): readonly GuidanceContent[] {
    return this.#contents('FailurePattern', intent)
  }

  get_service_connection_hints(intent?: IntentContext): readonly GuidanceContent[] {
    return this.#contents('ServiceConnectionHint', intent)
  }

  #contents(type: string, intent?: IntentContext): readonly GuidanceContent[] {
    return this.#find(type, intent).map(({ content }) => content)
  }

  #find(type: string, intent: IntentContext = {}): readonly AttachedArtifact[] {
    return (this.#byType.get(type) ?? []).filter(({ applicability }) => suits(applicability, intent))
  }
}

/** Of equal ranks the order of the gateway stays, which knows which of them is the newest. */
function sortByRank(artifacts: readonly AttachedArtifact[]): AttachedArtifact[] {
  return artifacts
    .map((artifact) => ({ artifact, rank: rankOf(artifact) }))
    .sort((first, second) => compareRanks(first.rank, second.rank))
    .map(({ artifact }) => artifact)
}

function suits({ intent_class, tags }: AttachedArtifact['applicability'], intent: IntentContext): boolean {
  if (intent_class !== undefined && intent.intent_class !== undefined && intent_class !== intent.intent_class)
    return false
  return tags.length === 0 || intent.tags === undefined || tags.some((tag) => intent.tags?.includes(tag))
}

/** Names of services have no `_`. */
function toLabel(tool: string): string {
  return tool.replace('__', '/')
}

function findOverride({ service, tools }: GuidanceContent, name: string): ToolOverride | undefined {
  const listed: readonly GuidanceContent[] = Array.isArray(tools) ? tools : []
  const tool = listed.find((each) => each.name === name || `${service}/${each.name}` === name)
  if (!tool) return undefined
  const { description_override, routing_hint } = tool
  if (typeof description_override !== 'string' && typeof routing_hint !== 'string') return undefined
  return {
    ...(typeof description_override === 'string' ? { description_override } : {}),
    ...(typeof routing_hint === 'string' ? { routing_hint } : {}),
  }
}
