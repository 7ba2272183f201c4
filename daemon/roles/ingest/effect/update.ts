// Changes an effect: deploys other operators, sets its schedule, describes it, raises its label, or pauses and resumes its DAG.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc, UpdateStep } from '../../../kernel/store/store.ts'
import { listConnections } from '../connection/task-connection.ts'
import { changeSchedule, relabelSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { scheduleInputFields } from '../datapipeline-schedule/model.ts'
import { uidInput } from '../fields.ts'
import { refuseFirstRun, storePrincipal } from '../managed-dag/deployment.ts'
import { openManaged } from '../managed-dag/open-managed.ts'
import { beginAgain, refuseInStep } from '../managed-dag/redeploy.ts'
import { setPaused } from '../managed-dag/set-paused.ts'
import { objectPaths } from '../object-paths.ts'
import { effectKind } from './kind.ts'
import { changedEffectView, effects, effectText, max_effect_bytes, type StoredEffect } from './model.ts'
import { refuseSchedule } from './refuse-effect.ts'
import { showEffect } from './view.ts'
import { listWarnings } from './warnings.ts'

const input = z.strictObject({
  ...uidInput.shape,
  name: effectText.name.optional(),
  description: effectText.description.optional(),
  visibility: effectText.visibility.optional(),
  operators: effectText.operators.optional(),
  ...scheduleInputFields,
  action: z.enum(['pause', 'unpause']).optional(),
})
type EffectChange = Omit<z.output<typeof input>, 'uid' | 'action'>

export const update = operation({
  ...objectPaths('effect/{uid}'),
  summary: 'Change an effect: deploy other operators, describe it, or pause and resume its DAG',
  method: 'PATCH',
  tool: 'effect_update',
  input,
  output: changedEffectView,
  errors: ['not_found', 'not_your_tenant', 'label_denied', 'wrong_state', 'precondition_failed'],
  allow: 'ingest:write',
  versioned: true,
  max_body_bytes: max_effect_bytes,

  async run(call, { uid, action, ...change }) {
    if (action !== undefined && Object.values(change).some((value) => value !== undefined))
      return refuse('invalid', 'action goes without other changes: send two requests', [
        { path: 'action', message: 'goes without other fields' },
      ])
    const doc =
      action === undefined
        ? await changeEffect(call, uid, change)
        : await setPaused(call, effectKind, uid, action === 'pause')
    if (isRefusal(doc)) return doc
    return { ...(await showEffect(call, doc)), warnings: await listWarnings(call, doc.value, []) }
  },
})

/** Operators are deployed again; the rest is changed at once. */
async function changeEffect(call: Call, uid: string, change: EffectChange): Promise<Doc<StoredEffect> | Refusal> {
  const before = await openManaged(call, effects, uid)
  const isRedeployed = change.operators !== undefined
  const refused =
    refuseSchedule(call, change, before.value) ?? (isRedeployed ? refuseRedeployment(call, before.value) : undefined)
  if (refused) return refused
  const { visibility } = change
  const label = visibility === undefined ? undefined : resolveClassification(call, visibility, 'visibility')
  if (isRefusal(label)) return label
  const lowered = refuseLowerLabel(call, before.value, label)
  if (lowered) return lowered
  const unscheduled = await changeSchedule(call, before, change, isRedeployed)
  if (unscheduled) return unscheduled
  const principal = isRedeployed ? await storePrincipal(call, effects, uid) : undefined
  const { doc, answer } = await call
    .store(effects)
    .update<Refusal | undefined>(uid, ({ value }) => changeRule(call, { uid, value }, change, { label, principal }))
  if (isRefusal(answer)) return answer
  if (label) await relabelSchedule(call, doc)
  announceJob(call, effects, doc)
  return doc
}

/** A change must not show the effect to more callers. */
function refuseLowerLabel(call: Call, { label: before }: StoredEffect, label: Label = before): Refusal | undefined {
  if (isCoveredBy(before, label, call.site.labels)) return undefined
  return refuse('label_denied', 'the visibility of an effect is raised, never lowered')
}

function refuseRedeployment(call: Call, value: StoredEffect): Refusal | undefined {
  return refuseInStep(value) ?? refuseFirstRun(call, value.run_on_deploy)
}

/** `principal`: of another deployment. */
function changeRule(
  call: Call,
  { uid, value }: { readonly uid: string; readonly value: StoredEffect },
  { name = value.name, description, operators = value.operators }: EffectChange,
  {
    label = value.label,
    principal,
  }: { readonly label?: Label | undefined; readonly principal?: StoredPrincipal | undefined },
): UpdateStep<StoredEffect, Refusal | undefined> {
  const lowered = refuseLowerLabel(call, value, label)
  if (lowered) return { answer: lowered }
  const described = {
    ...value,
    ...{ name, label, updated_at: call.nowIso() },
    ...(description === undefined ? {} : { description }),
  }
  const deployments = value.deployments + (principal ? 1 : 0)
  const audit = [call.audited(call.address, uid, { deployments }, label)]
  if (!principal) return { next: described, answer: undefined, audit }
  const late = refuseInStep(value)
  if (late) return { answer: late }
  const { fault: _fault, deployed_by: _deployedBy, ...rest } = described
  const next: StoredEffect = {
    ...rest,
    ...{ operators, connections: listConnections(operators), deployments },
    status: 'pending_validation',
    ...beginAgain(value, principal, call.now()),
  }
  return { next, answer: undefined, audit }
}
