// Takes an effect that a service dispatches after an attested decision: its payload is verified, then assembled and deployed.
import * as z from 'zod'
import { equalsInConstantTime } from '../../../kernel/cryptography/equals-in-constant-time.ts'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { EffectOperator } from '../../../shared/assembled-dag/operator-chain.ts'
import { holdName } from '../../../shared/name-holder/hold-name.ts'
import { listConnections } from '../connection/task-connection.ts'
import { namedValues, uid } from '../fields.ts'
import { dispatched_prefix } from '../managed-dag/dag-names.ts'
import { storePrincipal } from '../managed-dag/deployment.ts'
import { externalDispatch } from '../operator/external-dispatch.ts'
import {
  dispatchedEffectId,
  dispatchFields,
  effects,
  effectText,
  max_effect_bytes,
  type StoredEffect,
} from './model.ts'

const { edition_id, effect_type, target, payload_hash, deadline } = dispatchFields

const input = z.strictObject({
  effect_id: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,120}$/, 'must be letters, digits and _ . -, at most 120')
    .meta({ description: 'The same id is one effect, however often it is dispatched' }),
  ...{ edition_id, effect_type, target },
  payload: namedValues.meta({
    description:
      'For external_dispatch with `name` in `target` what is handed to that target; otherwise with `operators` those, and without them the parameters of the operator effect_type',
  }),
  payload_hash,
  deadline: deadline.optional(),
  name: effectText.name.optional(),
  visibility: effectText.visibility.optional(),
  run_on_deploy: z.boolean().default(false).meta({ description: 'Trigger a run once the DAG is live' }),
  delete_on_success: z.boolean().default(false),
})
type DispatchRequest = z.output<typeof input>

const payloadOperators = z.object({ operators: effectText.operators })

export const dispatch = operation({
  summary: 'Dispatch an effect from a service: its payload is verified by its hash, assembled and deployed',
  method: 'POST',
  tool: 'effect_dispatch',
  input,
  output: z
    .strictObject({
      acknowledged: z.literal(true),
      external_reference: uid.meta({ description: 'The uid of the effect' }),
      dag_id: dagId,
      status: z.literal('pending_validation'),
    })
    .meta({ id: 'EffectReceipt' }),
  status: 201,
  errors: ['already_exists', 'label_denied'],
  allow: 'ingest:dispatch',
  max_body_bytes: max_effect_bytes,

  async run(call, request) {
    const refused = refuseHash(request)
    if (refused) return refused
    const operators = readOperators(request)
    if (isRefusal(operators)) return operators
    const doc = await takeEffect(call, request, operators)
    if (isRefusal(doc)) return doc
    const { id: external_reference, value } = doc
    return {
      acknowledged: true as const,
      external_reference,
      dag_id: value.dag_id,
      status: 'pending_validation' as const,
    }
  },
})

/** Both are 64 digits: the time does not tell how many of them are right. */
function refuseHash({ payload, payload_hash: stated }: DispatchRequest): Refusal | undefined {
  if (equalsInConstantTime(canonicalDigest(payload), stated)) return undefined
  return refuse('invalid', 'the payload is not the one that was hashed: hash its canonical JSON (RFC 8785)', [
    { path: 'payload_hash', message: 'is not the SHA-256 of the payload' },
  ])
}

function readOperators(request: DispatchRequest): EffectOperator[] | Refusal {
  const { payload, effect_type: name } = request
  const sent = readSent(request)
  const given = sent || !Object.hasOwn(payload, 'operators') ? [{ name, params: sent ?? payload }] : payload.operators
  const parsed = parseWithSchema(payloadOperators, { operators: given })
  if (parsed.success) return parsed.data.operators
  const faults = parsed.errors.map(({ path, message }) => ({ path: `payload.${path}`, message }))
  return refuse('invalid', 'the payload has no operators that can be assembled', faults)
}

/**
 * The decision names target and payload of an external dispatch apart: the hash is that of what is sent. It is data of others, so that
 * `operators` in it are none of ours. Undefined for any other effect.
 */
function readSent({ effect_type, target, payload, payload_hash }: DispatchRequest) {
  if (effect_type !== externalDispatch.name || typeof target.name !== 'string') return undefined
  const path = target.path === undefined ? {} : { path: target.path }
  return { target: target.name, ...path, payload, payload_hash }
}

/** The first request under an id stands; one that differs is refused. */
async function takeEffect(
  call: Call,
  request: DispatchRequest,
  operators: readonly EffectOperator[],
): Promise<Doc<StoredEffect> | Refusal> {
  const label = resolveClassification(call, request.visibility ?? call.site.default_level, 'visibility')
  if (isRefusal(label)) return label
  const dag_id = `${dispatched_prefix}${request.effect_id}`
  const create = async (id: string) => {
    const principal = await storePrincipal(call, effects, id)
    const value = { ...buildEffect(call, request, { dag_id, label, operators }), ...newJob(principal, call.now()) }
    return await call.store(effects).create(id, value, [call.audited(call.address, id, { dag_id }, label)])
  }
  const id = dispatchedEffectId(call.caller.tenant_id, dag_id)
  const { doc, isNew } = await holdName(call.store(effects), id, label, { create, fits: () => true })
  if (isNew) announceJob(call, effects, doc)
  if (doc.value.request_digest === call.requestDigest()) return doc
  return refuse(
    'already_exists',
    `the effect ${request.effect_id} was dispatched with other content: give it another id`,
  )
}

type EffectParts = {
  readonly dag_id: string
  readonly label: Label
  readonly operators: readonly EffectOperator[]
}

function buildEffect(call: Call, request: DispatchRequest, { dag_id, label, operators }: EffectParts) {
  const { effect_id, name = effect_id, deadline: until, run_on_deploy, delete_on_success } = request
  const at = call.nowIso()
  return {
    ...{ tenant_id: call.caller.tenant_id, label, created_by: 'intelligence', created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), deployed_by: 'ingest:dispatch' as const, dag_id, name },
    ...{ operators: [...operators], connections: listConnections(operators) },
    ...{ run_on_deploy, delete_on_success, correlation_id: effect_id, edition_id: request.edition_id },
    ...{ effect_type: request.effect_type, target: request.target, payload_hash: request.payload_hash },
    ...(until === undefined ? {} : { deadline: until }),
    ...{
      subtype: 'dataeffect' as const,
      status: 'pending_validation' as const,
      is_paused: false,
      dag_digest: '',
      deployments: 1,
    },
  }
}
