// Settings of the intelligence role.
import * as z from 'zod'
import { listenerFields, toolFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

const dayCount = z.int().min(1).max(36_500)

export const settings = settingsBlock('intelligence', {
  ...listenerFields(8002, 'INTELLIGENCE'),
  ...toolFields('INTELLIGENCE'),
  expiry_days: dayCount.default(30).meta({
    doc: 'Days after which a signal that says no expires_at of its own, and is still open, is marked as expired.',
  }),
  expiry_days_by_type: z
    .record(z.string().min(1).max(128), dayCount)
    .default({})
    .meta({ doc: 'The same for signals of a type, by signal_type.' }),
  bulk_signals: z.int().min(1).max(5_000).default(1_000).meta({ doc: 'Most signals of one bulk disposition.' }),
  silence_days: z.int().min(1).max(366).default(30).meta({ doc: 'Most days that a silence of signals may last.' }),
})
