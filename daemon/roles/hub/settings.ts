// Settings of the hub role: its listener, the enrolled nodes, and the limits of mailboxes and feed.
import * as z from 'zod'
import { siteName } from '../../kernel/messaging/statement.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

/** Two thirds of the largest request, since bodies travel as base64. */
const largest_message_bytes = 11 * 1_048_576

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'HUB', port: 8_410 }

export const settings = settingsBlock('hub', {
  ...serviceListenerFields(listener),
  ...traceFields('HUB'),
  nodes: z
    .record(
      siteName,
      z.strictObject({
        subject: z.string().min(1).max(256).meta({ description: 'The only token subject that may act as the node' }),
        tenant_id: z
          .string()
          .min(1)
          .max(128)
          .optional()
          .meta({ description: 'Tenant of the coalition at the hub; default: the hub site’s own' }),
      }),
    )
    .default({})
    .meta({ doc: 'Enrolled nodes, each with the only subject that may act as it; others cannot register.' }),
  heartbeat_s: z.int().min(1).max(3_600).default(15).meta({ doc: 'Interval at which nodes are to send heartbeats.' }),
  lost_after: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({ doc: 'Number of missed heartbeats after which a node counts as lost.' }),
  max_message_bytes: z
    .int()
    .min(1_024)
    .max(largest_message_bytes)
    .default(4_325_376)
    .meta({ doc: 'Maximum size of a message: envelope and body together.' }),
  mailbox_messages: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .meta({ doc: 'Maximum number of messages that wait for one node from one other; a further one gets 429.' }),
  mailbox_bytes: z
    .int()
    .min(1_024)
    .max(1_099_511_627_776)
    .default(67_108_864)
    .meta({ doc: 'Maximum number of bytes of those messages.' }),
  message_days: z.int().min(1).max(365).default(7).meta({
    doc: 'Days for which a message waits for its receiver; then it is dropped, and the receiver detects a gap.',
  }),
  feed_entries: z
    .int()
    .min(100)
    .max(10_000_000)
    .default(100_000)
    .meta({ doc: 'Maximum number of entries in a coalition’s status feed; older ones are removed.' }),
})
