// Settings of the intelligence role.
import * as z from 'zod'
import { registrationFields } from '../../kernel/settings/gateway-settings.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

const dayCount = z.int().min(1).max(36_500)

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'INTELLIGENCE', port: 8_002 }

export const settings = settingsBlock('intelligence', {
  ...serviceListenerFields(listener),
  ...traceFields('INTELLIGENCE'),
  ...toolFields('INTELLIGENCE'),
  ...registrationFields('INTELLIGENCE'),
  expiry_days: dayCount.default(30).meta({
    doc: 'Days after which an open signal without expires_at is marked as expired.',
  }),
  expiry_days_by_type: z
    .record(z.string().min(1).max(128), dayCount)
    .default({})
    .meta({ doc: 'The same by signal_type; overrides expiry_days.' }),
  bulk_signals: z
    .int()
    .min(1)
    .max(5_000)
    .default(1_000)
    .meta({ doc: 'Maximum number of signals of one bulk disposition.' }),
  silence_days: z.int().min(1).max(366).default(30).meta({ doc: 'Maximum duration of a silence, in days.' }),
})
