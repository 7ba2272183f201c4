// Creates an effect: stores its operators, whose assembly, check and first run follow as a job.
import * as z from 'zod'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listConnections } from '../connection/task-connection.ts'
import { addSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { scheduleInputFields } from '../datapipeline-schedule/model.ts'
import { uid } from '../fields.ts'
import { created_prefix } from '../managed-dag/dag-names.ts'
import { refuseFirstRun, storePrincipal } from '../managed-dag/deployment.ts'
import { objectPaths } from '../object-paths.ts'
import { changedEffectView, effects, effectText, max_effect_bytes, type StoredEffect } from './model.ts'
import { refuseSchedule } from './refuse-effect.ts'
import { showEffect } from './view.ts'
import { listWarnings } from './warnings.ts'

const input = z.strictObject({
  name: effectText.name,
  description: effectText.description.optional(),
  visibility: effectText.visibility.optional(),
  operators: effectText.operators,
  ...scheduleInputFields,
  run_on_deploy: z.boolean().default(false).meta({ description: 'Trigger a run once the DAG is live' }),
  delete_on_success: z
    .boolean()
    .default(false)
    .meta({ description: 'Suggest a clean-up after a run that succeeded; goes without schedule' }),
  connections: z
    .array(uid)
    .max(200)
    .default([])
    .meta({ description: 'Connections that the operators should use: a warning names each that none does' }),
})

export const create = operation({
  ...objectPaths('effect'),
  summary: 'Create an effect: its operators become a DAG, which is checked, and then live; poll its status',
  method: 'POST',
  tool: 'effect_create',
  input,
  output: changedEffectView,
  status: 201,
  errors: ['label_denied', 'idempotency_mismatch'],
  allow: 'ingest:write',
  creates: true,
  versioned: true,
  max_body_bytes: max_effect_bytes,

  async run(call, request) {
    const doc = await createEffect(call, request)
    const scheduled = isRefusal(doc) ? doc : await addSchedule(call, doc, request)
    if (isRefusal(scheduled)) return scheduled
    const warnings = await listWarnings(call, scheduled.value, request.connections)
    return { ...(await showEffect(call, scheduled)), warnings }
  },
})

async function createEffect(call: Call, request: z.output<typeof input>): Promise<Doc<StoredEffect> | Refusal> {
  const refused = refuseSchedule(call, request, request) ?? refuseFirstRun(call, request.run_on_deploy)
  if (refused) return refused
  const label = resolveClassification(call, request.visibility ?? call.site.default_level, 'visibility')
  if (isRefusal(label)) return label
  const id = call.newId('ef')
  const before = await call.store(effects).find(id)
  if (before) return checkRepeatedRequest(call, before)
  const value = {
    ...buildEffect(call, request, { id, label }),
    ...newJob(await storePrincipal(call, effects, id), call.now()),
  }
  const audit = [call.audited(call.address, id, { dag_id: value.dag_id }, label)]
  const stored = await call.store(effects).create(id, value, audit)
  if (stored === 'exists') return checkRepeatedRequest(call, await call.store(effects).get(id))
  announceJob(call, effects, stored)
  return stored
}

function buildEffect(
  call: Call,
  request: z.output<typeof input>,
  { id, label }: { readonly id: string; readonly label: Label },
) {
  const { name, description, operators, run_on_deploy, delete_on_success } = request
  const at = call.nowIso()
  return {
    ...{ tenant_id: call.caller.tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), dag_id: `${created_prefix}${id.slice('ef_'.length)}`, name },
    ...(description === undefined ? {} : { description }),
    ...{ operators, connections: listConnections(operators), run_on_deploy, delete_on_success },
    ...{
      subtype: 'dataeffect' as const,
      status: 'pending_validation' as const,
      is_paused: false,
      dag_digest: '',
      deployments: 1,
    },
  }
}
