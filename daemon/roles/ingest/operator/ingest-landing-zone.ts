// Lands the file that was carried into the landing zone of the pipeline.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { datasetName } from '../federation/model.ts'
import { ingestFile } from './ingest-file.ts'
import { operator } from './operator.ts'

const peerDataset = z.strictObject({ peer: siteName, dataset: datasetName })
export type PeerDataset = z.output<typeof peerDataset>

export const ingestLandingZone = operator({
  name: 'ingest_landing_zone',
  summary:
    'Land the file that was carried into the landing zone of the pipeline, as ingest_file does; each file starts a run',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: ingestFile.params.omit({ file: true }).extend({
    from: peerDataset
      .optional()
      .meta({ description: 'Datasets that a peer sends by filedrop_send; they come into the landing zone as files' }),
  }),
})

/** What a run knows of its file; in its `conf` under this name. */
export const carriedFile = z.strictObject({
  number: z.int().min(0),
  name: z.string().min(1).max(1_024),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type CarriedFile = z.infer<typeof carriedFile>
export const carried_conf_name = 'carried'
