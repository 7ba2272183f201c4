// The order of artifacts: that in which the gateway caps them, and that in which a subscriber reads them.

/** What the order of an artifact depends on; `as_of` (epoch milliseconds) is known to the gateway alone. */
export type RankedArtifact = {
  readonly content: Readonly<Record<string, unknown>>
  readonly applicability: { readonly intent_class?: string | undefined; readonly tags: readonly string[] }
  readonly as_of?: number | undefined
}

/** The highest comes first, key by key. */
export type Rank = readonly [
  evaluator_score: number,
  confidence: number,
  specificity: number,
  weight: number,
  as_of: number,
]

export function rankOf({ content, applicability, as_of = 0 }: RankedArtifact): Rank {
  return [
    numberOr(content.evaluator_score, 1),
    numberOr(content.confidence, 0),
    countNarrowingFields(applicability),
    numberOr(content.weight, 1),
    as_of,
  ]
}

/** Negative if the first comes before the second. */
export function compareRanks(first: Rank, second: Rank): number {
  for (const [at, value] of first.entries()) {
    const other = second[at] ?? 0
    if (value !== other) return other - value
  }
  return 0
}

function countNarrowingFields({ intent_class, tags }: RankedArtifact['applicability']): number {
  return (intent_class === undefined ? 0 : 1) + (tags.length === 0 ? 0 : 1)
}

/** Others may have written the content. */
function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}
