// Whether something with a label may leave for a peer: a contract of the site role.
import * as z from 'zod'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Label, label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'

export const checkPeerCrossing = operationContract({
  address: 'site.peer.crossing',
  input: z.strictObject({ name: z.string().min(1).max(64), label }),
  output: z.strictObject({ allowed: z.boolean(), reason: z.string() }).meta({ id: 'Crossing' }),
})

/** Why something with this label may not leave for the peer; undefined when it may. */
export async function checkCrossing({ roles }: Call, peer: string, held: Label): Promise<Refusal | undefined> {
  const { allowed, reason } = await throwRefusal(roles.request(checkPeerCrossing, { name: peer, label: held }))
  return allowed ? undefined : refuse('label_denied', `it may not go to ${peer}: ${reason}`)
}
