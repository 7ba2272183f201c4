// Refuses changes of artifacts by the curator and the evaluator while an administrator has paused them.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { type ChangeGround, isAdmin } from '../audit/entry.ts'
import { curatorId, curators } from './model.ts'

export async function isPaused(call: Call, tenant_id: string): Promise<boolean> {
  return (await call.store(curators).find(curatorId(tenant_id)))?.value.is_paused ?? false
}

export async function checkPaused(
  call: Call,
  ground: Pick<ChangeGround, 'actor'>,
  tenant_id: string,
): Promise<Refusal | undefined> {
  if (isAdmin(ground) || !(await isPaused(call, tenant_id))) return undefined
  return refuse('wrong_state', 'the curator is paused: artifacts change by administrators alone until it is resumed')
}
