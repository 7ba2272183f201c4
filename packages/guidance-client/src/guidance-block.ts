// Guidance as the gateway attaches it: to a response of the chat, and to the arguments of a tool of an agent.

/** One piece of guidance. The keys of its content depend on its type. */
export type AttachedArtifact = {
  readonly id: string
  readonly type: string
  readonly version: number
  readonly content: Readonly<Record<string, unknown>>
  readonly applicability: { readonly intent_class?: string | undefined; readonly tags: readonly string[] }
  readonly rationale: string
}

/** The complete set for one scope, never a difference to an earlier one. */
export type GuidanceBlock = {
  /** When the set was built (ISO 8601). */
  readonly as_of: string
  readonly artifacts: readonly AttachedArtifact[]
  readonly rationale_summary: string
}

/** The field of a response, and of the arguments of a tool. */
export const guidance_field = 'guide_guidance'
