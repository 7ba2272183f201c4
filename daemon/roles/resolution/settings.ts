// Settings of the resolution role.
import * as z from 'zod'
import { registrationFields } from '../../kernel/settings/gateway-settings.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { peerDecisionFilter } from '../../shared/peer-decision/peer-decision.ts'
import { arrivalFolders } from './arrival-folder/folder-setting.ts'
import { standingAgreement } from './exchange/agreement/standing-agreement.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'RESOLUTION', port: 8_003 }

export const settings = settingsBlock('resolution', {
  ...serviceListenerFields(listener),
  ...traceFields('RESOLUTION'),
  ...toolFields('RESOLUTION'),
  ...registrationFields('RESOLUTION'),
  matching_pattern: z.enum(['full_lens', 'lookup_only']).default('full_lens').meta({
    env: 'MATCHING_PATTERN',
    doc: 'Whether this site matches records (full_lens), or only looks them up in a snapshot of another site’s registry (lookup_only).',
  }),
  snapshot_mb: z.int().min(1).max(65_536).default(1_024).meta({
    doc: 'Maximum size of an imported snapshot of a registry, in MiB.',
  }),
  data_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'RESOLUTION_DATA_FOLDER',
    doc: 'Folder with data files for runs, in one sub-folder for each tenant, named after it; absent: runs read no files.',
  }),
  inline_records: z.int().min(1).max(100_000).default(10_000).meta({
    doc: 'Maximum number of records in the request of a run; use data files for more.',
  }),
  max_records: z
    .int()
    .min(1)
    .max(50_000_000)
    .default(5_000_000)
    .meta({ doc: 'Maximum number of records of one run, over all nodes.' }),
  max_matches: z.int().min(1).max(50_000_000).default(10_000_000).meta({
    doc: 'Maximum number of matches that one run stores: of more, those with the highest scores, and the run says how many it left out. An exchange that finds more fails.',
  }),
  run_minutes: z.int().min(1).max(10_080).default(60).meta({ doc: 'Time limit of one phase of a run, in minutes.' }),
  run_memory_mb: z.int().min(64).max(1_048_576).default(2_048).meta({
    doc: 'Memory limit of a run, in MiB; a run that needs more fails.',
  }),
  runs_at_once: z.int().min(1).max(64).default(1).meta({
    doc: 'Maximum number of active runs; others wait. Tenants have turns, and so have the principals of each.',
  }),
  runs_per_tenant: z.int().min(1).max(500).default(100).meta({
    doc: 'Maximum number of unfinished runs of one tenant, not counting those of exchanges; a further one is refused.',
  }),
  runs_at_once_per_tenant: z.int().min(1).max(64).optional().meta({
    doc: 'Maximum number of active runs of one tenant; absent: as many as runs_at_once. Fewer leave room for the first run of another tenant.',
  }),
  runs_per_principal: z.int().min(1).max(500).default(50).meta({
    doc: 'Maximum number of unfinished runs of one principal, not counting those of exchanges; a further one is refused.',
  }),
  wait_days: z.int().min(1).max(3_650).default(7).meta({
    doc: 'Days for which an extracted or matched run waits for its next phase to be requested; then it fails, and its files are removed.',
  }),
  keep_days: z.int().min(1).max(3_650).default(30).meta({
    doc: 'Days for which the records and pairs of a completed run are kept in files; its matches and clusters stay.',
  }),
  // The position of a reader who sees no change is a day old, and would be refused at once.
  change_days: z.int().min(2).max(3_650).default(365).meta({
    doc: 'Days for which changes of entities are kept, for their history and for systems that follow them.',
  }),
  lookup_records: z.int().min(1).max(50_000_000).default(5_000_000).meta({
    doc: 'Maximum number of records of one registry or snapshot that is looked up in; lookups and arrivals in a larger one are refused.',
  }),
  lookup_memory_mb: z.int().min(1).max(65_536).default(2_048).meta({
    doc: 'Memory of the indexes for lookups, over all lenses and clearances, in MiB: some 300 bytes for each record of a person. Idle indexes make room for others; what does not fit is refused.',
  }),
  lookups_waiting: z.int().min(1).max(10_000).default(64).meta({
    doc: 'Maximum number of lookups that wait for the matching thread; a further one is refused with 503 and a time to retry.',
  }),
  lookups_waiting_per_caller: z.int().min(1).max(10_000).default(16).meta({
    doc: 'Maximum number of lookups of one caller that wait for the matching thread.',
  }),
  arrival_folders: arrivalFolders.meta({
    doc: 'Folders whose data files are matched with the registry, record by record; each file then moves to done or failed in its folder, with the answers beside it.',
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
  peer_decisions: z
    .array(
      z.strictObject({
        ...peerDecisionFilter,
        lens: z.string().min(1).max(256).meta({ description: 'Lens of this site whose matches the decisions decide' }),
      }),
    )
    .max(64)
    .default([])
    .meta({
      doc: 'Decisions of peers that decide matches of this site, below people and the site’s own sessions; none by default.',
    }),
  agreements: z.array(standingAgreement).max(256).default([]).meta({
    doc: 'Proposals of peers that this site accepts automatically; all others wait for a person.',
  }),
  exchange_idle_hours: z.int().min(1).max(8_760).default(168).meta({
    doc: 'Hours for which an exchange or a proposal may make no progress; then it fails, and its secret and records are removed.',
  }),
  exchange_hours: z.int().min(1).max(8_760).default(720).meta({
    doc: 'Hours that an exchange may take from its proposal, regardless of progress; then it fails, and its secret and records are removed.',
  }),
  exchange_records: z.int().min(1).max(1_000_000).default(1_000_000).meta({
    doc: 'Maximum number of records of a party in any exchange of this site; proposals of more are refused.',
  }),
  exchange_mb: z.int().min(1).max(4_096).default(256).meta({
    doc: 'Maximum size of the records of a party in any exchange of this site with privacy none, in MiB; proposals of more are refused.',
  }),
  exchanges_at_once: z.int().min(1).max(64).default(2).meta({
    doc: 'Maximum number of active exchanges, one for each peer; others wait.',
  }),
  open_exchanges: z.int().min(1).max(10_000).default(100).meta({
    doc: 'Maximum number of open exchanges that a tenant has proposed to one peer.',
  }),
  peer_proposals: z.int().min(1).max(10_000).default(100).meta({
    doc: 'Maximum number of proposals of one peer, both waiting and within 24 hours.',
  }),
  peer_records_per_day: z.int().min(0).max(1_000_000_000).default(1_000_000).meta({
    doc: 'Maximum number of records in the exchanges of one peer within 24 hours: limits guessing against the records of this site.',
  }),
  peer_exchanges_per_day: z.int().min(0).max(10_000).default(24).meta({
    doc: 'Maximum number of exchanges with one peer that this site agrees to within 24 hours.',
  }),
})
