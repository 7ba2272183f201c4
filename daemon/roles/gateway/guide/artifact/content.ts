// The contents of the 13 types of artifacts (document 002 names the types and the keys of ranking; the rest is decided here).
import * as z from 'zod'

const short = z.string().min(1).max(256)
const text = z.string().min(1).max(8_192)
const rate = z.number().min(0).max(1)
const count = z.int().min(0)

/** Keys by which artifacts are ranked and compared. */
const rankingFields = {
  evaluator_score: rate.optional(),
  confidence: rate.optional(),
  weight: z.number().min(0).max(1_000).optional(),
  score_decomposition: z
    .strictObject({ l3_error: rate, l3_schema_mismatch: rate, user_feedback: rate, evaluator_confidence: rate })
    .optional(),
  embedding_vector: z.array(z.number()).max(4_096).optional(),
  /** Vectors of different models are never compared. */
  embedding_model: short.optional(),
}

const content = <S extends z.ZodRawShape>(shape: S) => z.strictObject({ ...shape, ...rankingFields })

/** `tool`: `<service>/<tool>`, as labels of the graphs have it. Rates have `support` observations behind them. */
export const artifactContents = {
  DecisionGraph: content({ graph_id: short, snapshot_id: short, node_count: count, edge_count: count }),
  DecisionTrajectory: content({
    intent_class: short,
    steps: z.array(short).min(1).max(64),
    support: count,
    success_rate: rate,
  }),
  DriftEvent: content({
    rule: z.enum([
      'contradicted_edge',
      'unknown_intent',
      'inverted_edge',
      'diverging_trajectory',
      'window_divergence',
      'repeated_failures',
    ]),
    graph_id: short.optional(),
    source: short.optional(),
    target: short.optional(),
    recent: z.number().optional(),
    long: z.number().optional(),
    held_proposal_id: short.optional(),
    of_artifact_id: short.optional(),
    review: z.enum(['held', 'accepted', 'dismissed']),
  }),
  IntentPattern: content({
    intent_class: short,
    words: z.array(short).max(64),
    operations: z.array(short).max(64),
    support: count,
  }),
  IntentSchema: content({ intent_class: short, schema: z.record(z.string().max(256), z.unknown()), support: count }),
  SchemaDrift: content({
    intent_class: short,
    added: z.array(short).max(256),
    removed: z.array(short).max(256),
    changed: z.array(short).max(256),
  }),
  PromptShape: content({ shape: short, support: count, success_rate: rate }),
  ToolPairingHint: content({
    tool: short,
    next_tool: short,
    support: count,
    success_rate: rate,
    /** Of `next_tool` without `tool` before it. */
    baseline_rate: rate,
    hint: text,
  }),
  FailurePattern: content({
    tool: short,
    /** Argument of the calls that fail, and its value as JSON; absent: the error alone is the pattern. */
    argument: short.optional(),
    value: z.string().max(1_024).optional(),
    error: z.string().max(1_024),
    support: count,
    failure_rate: rate,
    baseline_rate: rate,
    advice: text,
  }),
  ServiceConnectionHint: content({
    from: short,
    to: short,
    support: count,
    success_rate: rate,
    baseline_rate: rate,
    hint: text,
  }),
  SpecFragment: content({ spec_id: short, body: text }),
  PromptShim: content({ body: text }),
  CapabilityMap: content({
    service: short,
    tools: z
      .array(
        z.strictObject({
          name: short,
          intent_classes: z.array(short).max(64),
          description_override: text.optional(),
          routing_hint: text.optional(),
        }),
      )
      .max(256),
  }),
} as const

export type ArtifactType = keyof typeof artifactContents
export const artifactTypes = Object.keys(artifactContents) as [ArtifactType, ...ArtifactType[]]
export type ArtifactContent<T extends ArtifactType = ArtifactType> = z.infer<(typeof artifactContents)[T]>
