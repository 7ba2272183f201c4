// Settings of intake: the sources that signals come from, and what the site itself raises.
import * as z from 'zod'
import { classification } from '../../../kernel/label/label.ts'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { signalMapping } from './mapping/model.ts'

const filePath = z.string().min(1).max(4_096)
const interval_s = z.int().min(1).max(86_400)

const sourceFields = {
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens'),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Whose signals these are; the site’s unless said' }),
  classification: classification.optional().meta({ description: 'Their label, whatever the sender says' }),
  mapping: signalMapping,
}

const pollingFields = {
  every_s: interval_s.default(60),
  cron: z.string().max(128).optional().meta({ description: 'In place of every_s; UTC' }),
}

const webhookSource = z.strictObject({
  ...sourceFields,
  kind: z.literal('webhook'),
  secret_files: z.array(filePath).min(1).max(2).meta({ description: 'Each with one secret; two while it is changed' }),
  window_s: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .meta({ description: 'How old, or how far ahead, a signature may be' }),
  max_per_minute: z.int().min(1).max(60_000).default(600),
})
export type WebhookSource = z.infer<typeof webhookSource>

const httpSource = z.strictObject({
  ...sourceFields,
  ...pollingFields,
  kind: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  authorization_file: filePath.optional().meta({ description: 'The Authorization header, as in: Bearer …' }),
  ca_file: filePath.optional(),
  cursor: z
    .strictObject({
      at: z
        .string()
        .max(512)
        .regex(/^(\/([^/~]|~[01])*)+$/)
        .meta({ description: 'Where an answer says it' }),
      parameter: z
        .string()
        .regex(/^[A-Za-z0-9_.~-]{1,64}$/)
        .meta({ description: 'Of the next request’s query' }),
    })
    .optional(),
  timeout_s: z.int().min(1).max(25).default(20),
})
export type HttpSource = z.infer<typeof httpSource>

const folderSource = z.strictObject({ ...sourceFields, ...pollingFields, kind: z.literal('folder'), path: filePath })
export type FolderSource = z.infer<typeof folderSource>

export type IntakeSource = WebhookSource | HttpSource | FolderSource

const siteCauseSettings = (severity: 'high' | 'medium') =>
  z
    .strictObject({
      enabled: z.boolean().default(true),
      severity: z.enum(['critical', 'high', 'medium', 'low', 'info']).default(severity),
      classification: classification.optional().meta({ description: 'At least this; joined with that of the cause' }),
    })
    .prefault({})

export const intakeSettings = settingsBlock('intake', {
  sources: z
    .array(z.discriminatedUnion('kind', [webhookSource, httpSource, folderSource]))
    .max(64)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'no two may have the same name')
    .default([])
    .meta({ doc: 'Where signals come from besides people and roles: webhooks, and what is asked for at times.' }),
  within_every_s: interval_s
    .default(15)
    .meta({ doc: 'Seconds between looks at what the site itself raises signals of.' }),
  conflict: siteCauseSettings('medium').meta({ doc: 'A signal for each session of consensus that is IN_CONFLICT.' }),
  quarantine: siteCauseSettings('high').meta({ doc: 'A signal for each item that is put into quarantine.' }),
  stale_channel: siteCauseSettings('medium').meta({
    doc: 'A signal each time that nothing comes on a channel as it should.',
  }),
  failed_pipeline: siteCauseSettings('medium').meta({ doc: 'A signal for each failed run of a pipeline.' }),
})
