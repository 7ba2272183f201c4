// The model of an effect: operators that follow each other as an assembled DAG, and its newest deployment, which is a job.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes } from '../../../kernel/job/job-fields.ts'
import { classification } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { max_tasks, taskName } from '../../../shared/assembled-dag/assembled-dag.ts'
import { effectOperator } from '../../../shared/assembled-dag/operator-chain.ts'
import { scheduleViewFields } from '../datapipeline-schedule/model.ts'
import { instant, namedValues, provenanceViewFields, shortText, uid } from '../fields.ts'
import { deploymentFault, liveFields, managedFields, managedStatus } from '../managed-dag/model.ts'
import { statisticsFields } from '../managed-dag/statistics.ts'

export const effectText = {
  name: shortText,
  description: z.string().max(4_096),
  operators: z.array(effectOperator).min(1).max(max_tasks).meta({ description: 'Each follows the one before it' }),
  visibility: classification.meta({ description: 'The access-control marking: a level, or a label' }),
}

/** Of a request with operators: they are stored twice, as they are and as a DAG. */
export const max_effect_bytes = 262_144

const effectFields = {
  name: effectText.name,
  description: effectText.description.optional(),
  operators: effectText.operators,
  connections: z.array(uid).meta({ description: 'The connections that operators name, each once' }),
  run_on_deploy: z.boolean(),
  delete_on_success: z.boolean().meta({ description: 'Suggest a clean-up after a run that succeeded' }),
}

/** Of an effect that a service dispatched. */
export const dispatchFields = {
  correlation_id: shortText.meta({ description: 'The id that the service gave the effect' }),
  edition_id: shortText.meta({ description: 'The attested edition that led to it' }),
  effect_type: taskName.meta({ description: 'The operator that it is of, unless the payload lists operators' }),
  target: namedValues.meta({
    description:
      'What it is aimed at, as the template of the decision says; for external_dispatch `name` and `path` of a target of the profile',
  }),
  payload_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
    .meta({ description: 'SHA-256 of the canonical JSON (RFC 8785) of the payload' }),
  deadline: instant.meta({ description: 'Recorded, not enforced' }),
}
const shownDispatchFields = z.strictObject(dispatchFields).partial().shape

const storedEffect = z.strictObject({
  ...managedFields,
  ...effectFields,
  ...shownDispatchFields,
  subtype: z.literal('dataeffect'),
})
export type StoredEffect = z.infer<typeof storedEffect>

/** The id of the effect that has a DAG of this name first; see `holdName`. */
export function dispatchedEffectId(tenant_id: string, dag_id: string): string {
  return `ef_${canonicalDigest([tenant_id, dag_id]).slice(0, 32)}`
}

export const effects = collection({
  name: 'dataeffect',
  schema: storedEffect,
  indexes: ['subtype', 'dag_id', 'status', ...job_indexes],
  documented: { alias: 'data-ingest', fields: { uid: 'id', subtype: 'subtype', dag_id: 'dag_id', status: 'status' } },
})

/** The effect as the interface shows it. */
export const effectView = z
  .strictObject({
    uid,
    version: z.int().min(1),
    subtype: z.literal('dataeffect'),
    ...provenanceViewFields,
    dag_id: managedFields.dag_id,
    ...effectFields,
    ...shownDispatchFields,
    uds: z.strictObject({ visibility: shortText.meta({ description: 'Level of the classification' }) }),
    status: managedStatus,
    fault: deploymentFault.optional().meta({ description: 'Why the newest operators are not live' }),
    ...liveFields,
    ...scheduleViewFields,
    cleanup_suggested: z
      .boolean()
      .meta({ description: 'Whether its newest run succeeded and delete_on_success is set: delete it then' }),
    ...statisticsFields,
    ...delayFields,
  })
  .meta({ id: 'DataEffect' })
export type EffectView = z.infer<typeof effectView>

/** Its state alone: of its deployment, and live from the scheduler. */
export const effectState = effectView
  .pick({
    ...{ uid: true, dag_id: true, name: true, status: true, fault: true, last_run: true, workflow_next_run: true },
    ...{ auto_start: true, cleanup_suggested: true, delay: true },
    ...{ commit: true, catalog_version: true, check: true },
  })
  .extend(scheduleViewFields)
  .meta({ id: 'DataEffectStatus' })

/** After a change of operators: what the author should look at before a run. */
export const changedEffectView = z
  .strictObject({
    ...effectView.shape,
    warnings: z.array(z.string()).meta({ description: 'Missing connections and operators; they block nothing' }),
  })
  .meta({ id: 'ChangedDataEffect' })
