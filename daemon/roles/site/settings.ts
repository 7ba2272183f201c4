// Settings of the site role: its listener, its carriers, its backups.
import * as z from 'zod'
import { siteName } from '../../kernel/messaging/statement.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'
import { timeZone } from '../../kernel/schedule/time-zone.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { traceFields } from '../../kernel/settings/platform-settings.ts'
import { type SettingValues, settingsBlock } from '../../kernel/settings/settings.ts'
import { scannerSettings } from '../../shared/body-scanner/scanner-settings.ts'

const accreditation = z.strictObject({
  authority: requiredText(256),
  reference: requiredText(256),
  valid_until: z.iso.date().meta({ description: 'Last day on which the channel may be used' }),
})

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'SITE', port: 8_420 }

export const settings = settingsBlock('site', {
  ...serviceListenerFields(listener),
  ...traceFields('SITE'),
  public_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      env: 'SITE_PUBLIC_URL',
      doc: 'URL at which clients reach this role, as published in its metadata (default: listen and port).',
    }),
  accreditations: z.record(z.string(), accreditation).default({}).meta({
    doc: 'Accreditation of each federation channel, by peer; profile D refuses to start with a channel that has none.',
  }),
  backup_cron: z
    .string()
    .max(128)
    .optional()
    .meta({ doc: 'Schedule of backups of the databases, as a cron expression or @daily; absent: no backups.' }),
  backup_time_zone: timeZone.default('UTC').meta({ doc: 'Time zone of backup_cron, such as Europe/Berlin.' }),
  backup_dir: z.string().min(1).optional().meta({ doc: 'Folder for backups (default: data/backups of the site).' }),
  backup_keep: z
    .int()
    .min(1)
    .max(1_000)
    .default(7)
    .meta({ doc: 'Number of backups to keep; older ones are removed after a new one is verified.' }),
  audit_keep_days: z
    .int()
    .min(1)
    .max(36_500)
    .default(3_650)
    .meta({ doc: 'Days for which the bodies of audit records are kept; their hashes are kept for ever.' }),
})

/** Where clients reach the site's issuer, without a slash at the end. */
export function issuerUrl({ listen, port, tls_cert_file, public_url }: SettingValues<typeof settings>): string {
  return public_url?.replace(/\/$/, '') ?? `${tls_cert_file ? 'https' : 'http'}://${listen}:${port}`
}

export const filedropSettings = settingsBlock('filedrop', {
  releasable_names: z
    .array(z.string().min(1).max(64))
    .max(64)
    .default([])
    .meta({ doc: 'Further names of this site for releasability besides its tenant, such as its nationality.' }),
  rescan_ms: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(5_000)
    .meta({ env: 'FILEDROP_RESCAN_MS', doc: 'Interval at which each channel is scanned, besides being watched.' }),
  skew_s: z.int().min(0).max(86_400).default(900).meta({ doc: 'Tolerance for the times of messages.' }),
  trusted_clock: z
    .boolean()
    .default(true)
    .meta({ doc: 'Whether the times of messages are checked; false: the sequence alone decides.' }),
  truncated_after_s: z
    .int()
    .min(1)
    .default(86_400)
    .meta({ doc: 'Time that an incomplete message may wait for its other file.' }),
  max_body_bytes: z.int().min(1_024).max(67_108_864).default(4_194_304).meta({ doc: 'Maximum size of a body.' }),
  max_envelope_bytes: z.int().min(1_024).max(65_536).default(65_536).meta({ doc: 'Maximum size of an envelope.' }),
  quarantine_max_bytes: z
    .int()
    .min(1_048_576)
    .default(1_073_741_824)
    .meta({ doc: 'Maximum size of the quarantine of one channel; when it is full, intake stops.' }),
  max_attempts: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({ doc: 'Number of crashes by a message after which it is quarantined as POISON.' }),
  max_held: z.int().min(1).max(100_000).default(1_024).meta({
    doc: 'Maximum number of messages of one channel that wait behind a gap; a further one counts as missing.',
  }),
  set_aside_max_messages: z.int().min(1).max(100_000).default(1_024).meta({
    doc: 'Maximum number of messages of one channel that wait for roles that the site does not run; a further one counts as missing.',
  }),
  set_aside_max_bytes: z
    .int()
    .min(1_048_576)
    .default(268_435_456)
    .meta({ doc: 'Maximum size of the messages of one channel that wait for roles that the site does not run.' }),
  resend_per_min: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .meta({ doc: 'Maximum number of messages of one channel that are sent again per minute, over all requests.' }),
  acknowledgements: z
    .record(siteName, z.strictObject({ every_s: z.int().min(10).max(604_800).default(900) }))
    .default({})
    .meta({
      doc: 'By peer, the interval of acknowledgements, each of the same size; only with an accreditation of the peer in site.accreditations.',
    }),
  release_days: z
    .int()
    .min(1)
    .max(90)
    .default(7)
    .meta({ doc: 'Days for which a request to release a message from quarantine waits for a second person.' }),
  scanner: scannerSettings.optional().meta({
    doc: 'Program and arguments that scan each body before it is accepted; the path of the body is the last argument. Exit 0: clean; 1: refused; any other code pauses intake, and so does a refusal of the trial body. It runs in a sandbox and reads, besides the program, the paths of `visible` alone.',
  }),
})
