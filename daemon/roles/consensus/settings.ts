// Settings of the consensus role.
import * as z from 'zod'
import { brokerUrl } from '../../kernel/network/broker.ts'
import { registrationFields } from '../../kernel/settings/gateway-settings.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { type SettingValues, settingsBlock } from '../../kernel/settings/settings.ts'
import { shortText } from './fields.ts'

const filePath = z.string().min(1).max(4_096)
/** Pending emissions refer to their sink by name, so names are unique. */
const sinkName = z.string().min(1).max(64)

/** Name of the coalition's status feed, which receives emissions as a sink does. */
export const feed_sink_name = 'coalition'

/** Name of the sink that sets the decisions of matches, where the profile names none of its kind. */
export const resolution_sink_name = 'resolution'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'CONSENSUS', port: 8_400 }

export const settings = settingsBlock('consensus', {
  ...serviceListenerFields(listener),
  ...traceFields('CONSENSUS'),
  ...toolFields('CONSENSUS'),
  ...registrationFields('CONSENSUS'),
  mcp_enabled: z.boolean().optional().meta({
    env: 'CONSENSUS_MCP_ENABLED',
    nested: 'mcp.enabled',
    doc: 'Whether AI clients may call the role’s tools (default: true). Only profile A offers them, whatever is set.',
  }),
  matching_pattern: z.enum(['full_lens', 'lookup_only']).default('full_lens').meta({
    env: 'MATCHING_PATTERN',
    doc: 'Whether this deployment matches records; with lookup_only on customer premises consensus does not run.',
  }),
  contributors: z
    .record(
      shortText,
      z.strictObject({
        signer_keys: z
          .array(shortText)
          .min(1)
          .max(64)
          .meta({ description: 'Key ids that may sign for the contributor' }),
        spoken_for_by: z
          .array(shortText)
          .max(64)
          .default([])
          .meta({ description: 'Subjects that may submit for the contributor, besides itself' }),
        tenant_id: shortText.optional().meta({ description: 'The only tenant of its contributions; absent: any' }),
      }),
    )
    .default({})
    .meta({
      doc: 'Enrolled contributors with their signing keys and the subjects that may submit for them; others may not contribute.',
    }),
  sinks: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({
          name: sinkName,
          kind: z.literal('webhook'),
          url: z.url({ protocol: /^https?$/ }),
          secret_file: z.string().min(1),
        }),
        z.strictObject({ name: sinkName, kind: z.literal('filedrop'), peer: shortText }),
        z.strictObject({ name: sinkName, kind: z.literal('resolution') }).meta({
          description:
            'The resolution role of this site: sets the decision of the match. Implied where the site runs that role',
        }),
        z
          .strictObject({
            name: sinkName,
            kind: z.literal('amqp'),
            url: brokerUrl,
            user: z.string().min(1).max(255).optional(),
            password_file: filePath.optional(),
            tls_ca_file: filePath.optional(),
            tls_cert_file: filePath.optional(),
            tls_key_file: filePath.optional(),
            exchange: z.string().max(255),
            routing_key: z.string().max(255),
          })
          .refine(
            ({ user, password_file, tls_cert_file }) =>
              user ? password_file !== undefined : tls_cert_file !== undefined,
            'needs user and password_file, or tls_cert_file and tls_key_file',
          )
          .refine(
            ({ tls_cert_file, tls_key_file }) => !tls_cert_file === !tls_key_file,
            'needs both tls_cert_file and tls_key_file',
          ),
      ]),
    )
    .max(32)
    .refine(
      (sinks) => !sinks.some(({ name }) => name === feed_sink_name),
      `the name ${feed_sink_name} is reserved for the hub’s feed; choose another`,
    )
    .refine(
      (sinks) => !sinks.some(({ name, kind }) => name === resolution_sink_name && kind !== 'resolution'),
      `the name ${resolution_sink_name} is reserved for the role of that name; choose another`,
    )
    .refine((sinks) => new Set(sinks.map(({ name }) => name)).size === sinks.length, 'sink names must be unique')
    .default([])
    .meta({
      doc: 'Sinks that ratified results are emitted to, each under a unique name. Where platform.roles has resolution, its matches receive their rulings without being named here.',
    }),
  evidence_v1_peers: z.array(shortText).max(1_024).default([]).meta({
    doc: 'Peers that still run a release without evidence of version 2: they are sent version 1, and theirs may quote other sites without proof.',
  }),
  max_contributions: z.int().min(1_000).max(1_000_000).default(10_000).meta({
    doc: 'Maximum number of contributions in one session, superseded ones included; further ones are refused.',
  }),
})

export type EmissionSink = SettingValues<typeof settings>['sinks'][number]
