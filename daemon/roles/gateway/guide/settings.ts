// Settings of the guidance layer, under the names of document 002.
import * as z from 'zod'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { endpointKey, endpointUrl, modelName } from '../chat/model-endpoint.ts'
import { tokenFields } from './budget/token-fields.ts'
import { defaultWeights, nameOfWeight, weightEntry, weightNames } from './evaluation/weights.ts'
import { holdoutFields } from './holdout/holdout-fields.ts'

const toggle = (variable: string, isOn: boolean, doc: string) => z.boolean().default(isOn).meta({ env: variable, doc })

const cap = (variable: string, most: number, of: string) =>
  z
    .int()
    .min(0)
    .max(100)
    .default(most)
    .meta({ env: `GUIDE_ATTACH_CAP_${variable}`, doc: `Maximum number of ${of} that are attached at once.` })

const weight = (variable: string, of: string) =>
  z
    .number()
    .min(0)
    .max(100)
    .optional()
    .meta({
      env: `GUIDE_EVALUATOR_WEIGHT_${variable}`,
      doc: `Weight of ${of} in the score of an artifact (default: that of evaluator_weights).`,
    })

const similarity = (variable: string, value: number, doc: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .default(value)
    .meta({ env: `GUIDE_${variable}`, doc })

/** Of syntheses by the model of the layer, where `model_url` names one. */
const synthesisFields = {
  model_label_ceiling: z.string().min(1).max(64).optional().meta({
    env: 'GUIDE_MODEL_LABEL_CEILING',
    doc: 'Highest level of observations that a synthesis gives to the model of the guidance layer (default: all).',
  }),
  synthesis_max_concurrent: z.int().min(1).max(64).default(4).meta({
    env: 'GUIDE_SYNTHESIS_MAX_CONCURRENT',
    doc: 'Maximum number of syntheses at once.',
  }),
  synthesis_max_per_hour: z.int().min(0).max(100_000).default(120).meta({
    env: 'GUIDE_SYNTHESIS_MAX_PER_HOUR',
    doc: 'Requests to the model of the guidance layer for each tenant, process and hour; 0: for administrators alone.',
  }),
  synthesis_timeout_s: z.int().min(1).max(590).default(60).meta({
    env: 'GUIDE_SYNTHESIS_TIMEOUT_SEC',
    doc: 'Seconds that the model of the guidance layer may take for one synthesis.',
  }),
  synthesis_prompt_characters: z.int().min(2_000).max(200_000).default(16_000).meta({
    env: 'GUIDE_SYNTHESIS_PROMPT_CHARACTERS',
    doc: 'Maximum number of characters of observations, graphs and artifacts in one request to the model of the guidance layer.',
  }),
}

/** Without a URL, vectors are made locally. */
const embeddingFields = {
  embedding_url: endpointUrl.optional().meta({
    env: 'GUIDE_EMBEDDING_URL',
    doc: 'Base URL of an OpenAI-compatible API, to which /embeddings is added; absent: artifacts are compared by n-grams of characters, without a model.',
  }),
  embedding_model: modelName
    .optional()
    .meta({ env: 'GUIDE_EMBEDDING_MODEL', doc: 'Model of the embeddings; needed with embedding_url.' }),
  embedding_api_key: endpointKey.optional().meta({
    env: 'GUIDE_EMBEDDING_API_KEY',
    secret: true,
    doc: 'Key of this site at the endpoint of the embeddings, sent as a bearer token.',
  }),
  embedding_ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'GUIDE_EMBEDDING_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificate of the endpoint of the embeddings, instead of the machine’s.',
  }),
  embedding_timeout_s: z.int().min(1).max(25).default(10).meta({
    env: 'GUIDE_EMBEDDING_TIMEOUT_SEC',
    doc: 'Seconds that an embedding may take; afterwards the artifact is promoted without one.',
  }),
}

export const guideSettings = settingsBlock('guide', {
  enabled: toggle('GUIDE_ENABLED', true, 'Whether the gateway observes calls and chat, and learns guidance from them.'),
  model_url: endpointUrl.optional().meta({
    env: 'GUIDE_MODEL_URL',
    doc: 'Base URL of an OpenAI-compatible API for the guidance layer alone; absent: it learns by rules, and its chat takes commands.',
  }),
  model: modelName.optional().meta({ env: 'GUIDE_MODEL', doc: 'Model of the guidance layer; needed with model_url.' }),
  api_key: endpointKey
    .optional()
    .meta({ env: 'GUIDE_API_KEY', secret: true, doc: 'Key of this site at that endpoint, sent as a bearer token.' }),
  ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'GUIDE_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificate of that endpoint, instead of the machine’s.',
  }),
  guidance_attach_enabled: toggle(
    'GUIDE_GUIDANCE_ATTACH_ENABLED',
    true,
    'Whether guidance is attached to responses of the chat and to calls of tools of agents.',
  ),
  guidance_attach_timeout_ms: z.int().min(1).max(1_000).default(10).meta({
    env: 'GUIDE_GUIDANCE_ATTACH_TIMEOUT_MS',
    doc: 'Milliseconds that attaching may take; afterwards the response or call goes without guidance.',
  }),
  attach_cap_prompt_shim: cap('PROMPT_SHIM', 10, 'PromptShim artifacts'),
  attach_cap_spec_fragment: cap('SPEC_FRAGMENT', 5, 'SpecFragment artifacts'),
  attach_cap_tool_pairing_hint: cap('TOOL_PAIRING_HINT', 5, 'ToolPairingHint artifacts'),
  attach_cap_failure_pattern: cap('FAILURE_PATTERN', 10, 'FailurePattern artifacts'),
  attach_cap_service_connection_hint: cap('SERVICE_CONNECTION_HINT', 5, 'ServiceConnectionHint artifacts'),
  attach_cap_intent_pattern: cap('INTENT_PATTERN', 5, 'IntentPattern artifacts'),
  attach_max_bytes: z.int().min(0).max(1_048_576).default(16_384).meta({
    env: 'GUIDE_ATTACH_MAX_BYTES',
    doc: 'Maximum size of the artifacts that are attached at once; the others are held back as by a cap.',
  }),
  ...tokenFields,
  ingest_queue_maxsize: z.int().min(1).max(1_000_000).default(10_000).meta({
    env: 'GUIDE_INGEST_QUEUE_MAXSIZE',
    doc: 'Maximum number of observations that wait; further ones are dropped and counted.',
  }),
  ingest_worker_concurrency: z.int().min(1).max(64).default(4).meta({
    env: 'GUIDE_INGEST_WORKER_CONCURRENCY',
    doc: 'Number of batches of observations that are written at once.',
  }),
  ingest_worker_retry_attempts: z.int().min(0).max(20).default(2).meta({
    env: 'GUIDE_INGEST_WORKER_RETRY_ATTEMPTS',
    doc: 'Times that writing an observation is tried again before it is given up.',
  }),
  ingest_dead_letter_path: z.string().min(1).max(4_096).optional().meta({
    env: 'GUIDE_INGEST_DEAD_LETTER_PATH',
    doc: 'File to which observations that could not be written are appended (default: they are counted and logged alone).',
  }),
  ingest_stale_warn_s: z.int().min(1).max(86_400).default(300).meta({
    env: 'GUIDE_INGEST_STALE_WARN_SEC',
    doc: 'Seconds without an observation after which a service is shown as degraded.',
  }),
  ingest_depth_warn: z.int().min(1).max(1_000_000).default(5_000).meta({
    env: 'GUIDE_INGEST_DEPTH_WARN',
    doc: 'Number of waiting observations above which intake is shown as degraded.',
  }),
  ingest_dedup_window_s: z.int().min(1).max(86_400).default(600).meta({
    env: 'GUIDE_INGEST_DEDUP_WINDOW_SEC',
    doc: 'Seconds within which an observation with the same trace, event type, time and service is a repeat.',
  }),
  require_intent_schema: toggle(
    'GUIDE_REQUIRE_INTENT_SCHEMA',
    false,
    'Whether a message to the chat without an intent schema is refused (400).',
  ),
  maintenance_interval: z.int().min(60).max(86_400).default(3_600).meta({
    env: 'GUIDE_MAINTENANCE_INTERVAL',
    doc: 'Seconds between runs of the maintenance, which removes what has expired and thins out snapshots.',
  }),
  graph_snapshot_interval: z.int().min(60).max(86_400).default(3_600).meta({
    env: 'GUIDE_GRAPH_SNAPSHOT_INTERVAL',
    doc: 'Seconds between snapshots of the decision graphs.',
  }),
  snapshot_hourly_to_daily_age_days: z.int().min(1).max(365).default(7).meta({
    env: 'GUIDE_SNAPSHOT_HOURLY_TO_DAILY_AGE_DAYS',
    doc: 'Age in days from which one snapshot of each graph and day is kept.',
  }),
  snapshot_daily_to_weekly_age_days: z.int().min(1).max(365).default(30).meta({
    env: 'GUIDE_SNAPSHOT_DAILY_TO_WEEKLY_AGE_DAYS',
    doc: 'Age in days from which one snapshot of each graph and week is kept, up to 90 days.',
  }),
  audit_retention_days: z.int().min(90).max(36_500).default(90).meta({
    env: 'GUIDE_AUDIT_RETENTION_DAYS',
    doc: 'Days that records of the curator are kept; those of critical actions of administrators have no end.',
  }),
  similarity_enabled: toggle(
    'GUIDE_SIMILARITY_ENABLED',
    true,
    'Whether a promotion lists active artifacts that are similar.',
  ),
  similarity_threshold: similarity(
    'SIMILARITY_THRESHOLD',
    0.9,
    'Cosine from which two artifacts count as similar at a promotion.',
  ),
  ...embeddingFields,
  coalescer_enabled: toggle(
    'GUIDE_COALESCER_ENABLED',
    false,
    'Whether similar active artifacts are proposed to be merged.',
  ),
  coalescer_threshold: similarity(
    'COALESCER_THRESHOLD',
    0.85,
    'Least cosine between any two artifacts that are merged.',
  ),
  coalescer_max_clusters_per_run: z.int().min(1).max(1_000).default(5).meta({
    env: 'GUIDE_COALESCER_MAX_CLUSTERS_PER_RUN',
    doc: 'Maximum number of groups of similar artifacts that one run proposes to merge.',
  }),
  coalescer_interval: z.int().min(60).max(604_800).default(3_600).meta({
    env: 'GUIDE_COALESCER_INTERVAL',
    doc: 'Seconds between runs that look for similar artifacts.',
  }),
  evaluator_persist_scores_enabled: toggle(
    'GUIDE_EVALUATOR_PERSIST_SCORES_ENABLED',
    true,
    'Whether scores of the evaluator are written to the artifacts.',
  ),
  evaluator_weights: z
    .array(weightEntry)
    .max(weightNames.length)
    .refine((entries) => new Set(entries.map(nameOfWeight)).size === entries.length, {
      error: 'must name each weight once',
    })
    .default([...defaultWeights])
    .meta({
      env: 'GUIDE_EVALUATOR_WEIGHTS',
      doc: 'Weights of the terms of a score, as name=number; one that is left out keeps its default. A setting of a single weight goes before it.',
    }),
  evaluator_weight_l3_error: weight('L3_ERROR', 'errors of tools and services'),
  evaluator_weight_schema_mismatch: weight('SCHEMA_MISMATCH', 'outputs of agents that do not fit the intent schema'),
  evaluator_weight_user_feedback: weight('USER_FEEDBACK', 'negative feedback of users'),
  evaluator_weight_confidence: weight('CONFIDENCE', 'low confidence of the artifact itself'),
  evaluator_l3_fast_demote_n: z.int().min(1).max(100).default(2).meta({
    env: 'GUIDE_EVALUATOR_L3_FAST_DEMOTE_N',
    doc: 'Number of evaluations with a low score after which an artifact is demoted where errors of tools dominate; otherwise 5.',
  }),
  ...holdoutFields,
  lineage_persist_enabled: toggle(
    'GUIDE_LINEAGE_PERSIST_ENABLED',
    true,
    'Whether it is stored which artifacts were attached to a trace, and which were held back.',
  ),
  lineage_retention_days: z.int().min(1).max(36_500).default(90).meta({
    env: 'GUIDE_LINEAGE_RETENTION_DAYS',
    doc: 'Days that it is kept which artifacts were attached to a trace.',
  }),
  set_hold_days: z.int().min(1).max(365).default(14).meta({
    env: 'GUIDE_SET_HOLD_DAYS',
    doc: 'Days that a set of artifacts from another site waits for two administrators to accept it.',
  }),
  ...synthesisFields,
})
