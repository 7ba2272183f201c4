// Settings of intake: sources of signals, and causes on the site itself.
import * as z from 'zod'
import { classification } from '../../../kernel/label/label.ts'
import { timeZone } from '../../../kernel/schedule/time-zone.ts'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { peerDecisionFilter } from '../../../shared/peer-decision/peer-decision.ts'
import { signalMapping } from './mapping/model.ts'

const filePath = z.string().min(1).max(4_096)
/** Longest time of one poll; a test of the source answers after it. */
const max_source_timeout_s = 110
export const source_test_ms = 1_000 * (max_source_timeout_s + 10)

const interval_s = z.int().min(1).max(86_400)

const sourceFields = {
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens'),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Tenant of the signals; default: the tenant of the site' }),
  classification: classification.optional().meta({ description: 'Label of the signals; the sender cannot change it' }),
  mapping: signalMapping,
}

const pollingFields = {
  every_s: interval_s.default(60),
  cron: z.string().max(128).optional().meta({
    description: 'Schedule instead of every_s: a cron expression or @daily; every_s is then the pause after a failure',
  }),
  time_zone: timeZone.default('UTC').meta({ description: 'Time zone of cron' }),
}

const webhookSource = z.strictObject({
  ...sourceFields,
  kind: z.literal('webhook'),
  secret_files: z
    .array(filePath)
    .min(1)
    .max(2)
    .meta({ description: 'One secret in each file; two during a change of secret' }),
  window_s: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .meta({ description: 'Largest difference between the time of a signature and the clock of the site' }),
  max_per_minute: z.int().min(1).max(60_000).default(600),
})
export type WebhookSource = z.infer<typeof webhookSource>

const httpSource = z.strictObject({
  ...sourceFields,
  ...pollingFields,
  kind: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  authorization_file: filePath
    .optional()
    .meta({ description: 'File with the Authorization header, such as: Bearer …' }),
  ca_file: filePath.optional(),
  cursor: z
    .strictObject({
      at: z
        .string()
        .max(512)
        .regex(/^(\/([^/~]|~[01])*)+$/)
        .meta({ description: 'Path of the cursor in the response' }),
      parameter: z
        .string()
        .regex(/^[A-Za-z0-9_.~-]{1,64}$/)
        .meta({ description: 'Query parameter of the next request' }),
    })
    .optional(),
  timeout_s: z.int().min(1).max(max_source_timeout_s).default(20),
})
export type HttpSource = z.infer<typeof httpSource>

const folderSource = z.strictObject({ ...sourceFields, ...pollingFields, kind: z.literal('folder'), path: filePath })
export type FolderSource = z.infer<typeof folderSource>

export type IntakeSource = WebhookSource | HttpSource | FolderSource

const siteCauseFields = (severity: 'high' | 'medium') => ({
  enabled: z.boolean().default(true),
  severity: z.enum(['critical', 'high', 'medium', 'low', 'info']).default(severity),
  classification: classification
    .optional()
    .meta({ description: 'Classification of the signal, joined with the label of the cause' }),
})

const siteCauseSettings = (severity: 'high' | 'medium') => z.strictObject(siteCauseFields(severity)).prefault({})

const peerDecisionSettings = z
  .strictObject({
    ...siteCauseFields('medium'),
    rules: z
      .array(z.strictObject(peerDecisionFilter))
      .max(64)
      .default([])
      .meta({ description: 'Decisions that raise a signal; without rules none does' }),
  })
  .prefault({})

export const intakeSettings = settingsBlock('intake', {
  sources: z
    .array(z.discriminatedUnion('kind', [webhookSource, httpSource, folderSource]))
    .max(64)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have unique names')
    .default([])
    .meta({ doc: 'Sources of signals besides people and roles: webhooks, and polled HTTP endpoints and folders.' }),
  within_every_s: interval_s
    .default(15)
    .meta({ doc: 'Seconds between checks for events on the site itself that raise signals.' }),
  conflict: siteCauseSettings('medium').meta({ doc: 'Signals for consensus sessions that are IN_CONFLICT.' }),
  peer_decision: peerDecisionSettings.meta({
    doc: 'Signals for decisions of peers on lenses, and for their retractions, that one of the rules selects.',
  }),
  quarantine: siteCauseSettings('high').meta({ doc: 'Signals for items put into quarantine.' }),
  stale_channel: siteCauseSettings('medium').meta({
    doc: 'Signals for channels that have become stale.',
  }),
  failed_pipeline: siteCauseSettings('medium').meta({ doc: 'Signals for failed runs of a pipeline.' }),
  notice: siteCauseSettings('medium').meta({ doc: 'Signals that tasks of pipelines raise by the operator notify.' }),
})

/** Name of a source in the health of the role. */
export function sourceDependency(source: string): string {
  return `source ${source}`
}
