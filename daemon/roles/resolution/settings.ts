// Settings of the resolution role.
import * as z from 'zod'
import { listenerFields, toolFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { standingAgreement } from './exchange/agreement/standing-agreement.ts'

export const settings = settingsBlock('resolution', {
  ...listenerFields(8003, 'RESOLUTION'),
  ...toolFields('RESOLUTION'),
  matching_pattern: z.enum(['full_lens', 'lookup_only']).default('full_lens').meta({
    env: 'MATCHING_PATTERN',
    doc: 'Whether this site matches records, or only looks them up in a snapshot of another site’s registry.',
  }),
  snapshot_mb: z.int().min(1).max(65_536).default(1_024).meta({
    doc: 'Largest snapshot of a registry that is taken in, in MiB.',
  }),
  data_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'RESOLUTION_DATA_FOLDER',
    doc: 'Folder whose sub-folders, one for each tenant and named as it is, hold the data files that runs may name; absent: none.',
  }),
  inline_records: z.int().min(1).max(100_000).default(10_000).meta({
    doc: 'Records that a run may bring along in its request; more come as data files.',
  }),
  max_records: z.int().min(1).max(50_000_000).default(5_000_000).meta({ doc: 'Records of one run, of all nodes.' }),
  max_matches: z.int().min(1).max(10_000_000).default(1_000_000).meta({
    doc: 'Matches that one run may write; a run that finds more fails.',
  }),
  run_minutes: z.int().min(1).max(10_080).default(60).meta({ doc: 'How long one phase of a run may take.' }),
  run_memory_mb: z.int().min(64).max(1_048_576).default(2_048).meta({
    doc: 'Memory that a run may take, in MiB; one that wants more fails.',
  }),
  runs_at_once: z.int().min(1).max(64).default(1).meta({ doc: 'Runs that are worked on at a time; others wait.' }),
  runs_per_tenant: z.int().min(1).max(500).default(100).meta({
    doc: 'Runs of one tenant that have not ended, those of exchanges aside; one more is refused.',
  }),
  wait_days: z.int().min(1).max(3_650).default(7).meta({
    doc: 'How long a run whose records are extracted or matched waits for its next phase to be requested; then it fails, and its files are dropped.',
  }),
  keep_days: z.int().min(1).max(3_650).default(30).meta({
    doc: 'How long the records and pairs of a completed run are kept in files; its matches and clusters stay.',
  }),
  lookup_records: z.int().min(1).max(10_000_000).default(250_000).meta({
    doc: 'Records of registries that are held in memory for lookups, of all lenses and clearances together; a larger registry is not looked up in.',
  }),
  attesters: z
    .record(
      z.string().min(1).max(256),
      z.strictObject({
        spoken_for_by: z
          .array(z.string().min(1).max(256))
          .max(64)
          .default([])
          .meta({ description: 'Subjects besides itself that may attest for it' }),
        tenant_id: z
          .string()
          .min(1)
          .max(256)
          .optional()
          .meta({ description: 'The only tenant it attests in; any when absent' }),
      }),
    )
    .default({})
    .meta({
      doc: 'Attesters of matches and the subjects that may attest for each. Any other caller attests under its own subject only.',
    }),
  agreements: z.array(standingAgreement).max(256).default([]).meta({
    doc: 'Proposals of peers that this site agrees to by itself; every other waits for a person.',
  }),
  exchange_idle_hours: z.int().min(1).max(8_760).default(168).meta({
    doc: 'How long an exchange, or a proposal, may go without progress; then it fails, and its secret and records go.',
  }),
  exchange_hours: z.int().min(1).max(8_760).default(720).meta({
    doc: 'How long an exchange may take from its proposal, whatever the progress; then it fails, and its secret and records go.',
  }),
  exchange_records: z.int().min(1).max(1_000_000).default(1_000_000).meta({
    doc: 'Records of a party that any exchange of this site may allow; proposals of more are refused.',
  }),
  exchange_mb: z.int().min(1).max(4_096).default(256).meta({
    doc: 'MiB of records of a party that any exchange of this site with privacy none may allow; proposals of more are refused.',
  }),
  exchanges_at_once: z.int().min(1).max(64).default(2).meta({
    doc: 'Exchanges that are worked on at a time, of each peer one; others wait.',
  }),
  open_exchanges: z.int().min(1).max(10_000).default(100).meta({
    doc: 'Exchanges of its own proposal that a tenant may have open with one peer.',
  }),
  peer_proposals: z.int().min(1).max(10_000).default(100).meta({
    doc: 'Proposals of one peer that may wait for an answer, and that it may make in 24 hours.',
  }),
  peer_records_per_day: z.int().min(0).max(1_000_000_000).default(1_000_000).meta({
    doc: 'Records that the exchanges of one peer may bring in 24 hours: what it can try against the records of this site.',
  }),
  peer_exchanges_per_day: z.int().min(0).max(10_000).default(24).meta({
    doc: 'Exchanges with one peer that this site agrees to in 24 hours.',
  }),
})
