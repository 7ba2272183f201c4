// Documents of the hold-out: the traces with and without each artifact, and the key by which they are chosen.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { documentFields } from '../document-fields.ts'
import { max_callers } from '../evaluation/assess-trace.ts'

const sample = z.strictObject({ successes: z.int().min(0), trials: z.int().min(0) })

/** Traces whose newest count an effect still knows by itself; older ones are known by their lineage. */
export const max_counted = 256

const callerSample = z.strictObject({ caller: z.string().max(16), attached: sample, held_out: sample })

const storedEffect = z.strictObject({
  ...documentFields,
  artifact_id: z.string(),
  /** Of the artifact: a change by anybody but the evaluator begins the comparison again. */
  artifact_version: z.int(),
  attached: sample,
  held_out: sample,
  /** Of the newest callers: no one demotes or raises an artifact alone. */
  callers: z.array(callerSample).max(max_callers),
  verdict: z.enum(['harm', 'benefit', 'pending']),
  /** `countedTrace` of the newest ones. */
  counted: z.array(z.string().max(64)).max(max_counted),
})
export type StoredArtifactEffect = z.infer<typeof storedEffect>

/** One for each artifact, under its id. */
export const artifactEffects = collection({
  name: 'guide_artifact_effect',
  schema: storedEffect,
  indexes: ['artifact_id', 'update_ts'],
})

const storedKey = z.strictObject({ ...documentFields, key: z.string().regex(/^[0-9a-f]{64}$/) })

/** One for the site, made by the first process that needs it, and shown by no operation. */
export const holdoutKeys = collection({ name: 'guide_holdout_key', schema: storedKey, indexes: [] })
