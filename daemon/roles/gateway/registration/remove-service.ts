// Ends the registration of a service at the request of somebody who may.

import type { Refusal } from '../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { withdrawService } from '../object-claim/withdraw-service.ts'
import { type StoredService, services } from '../registered-service/model.ts'
import { isExpired } from '../registered-service/rules.ts'

export async function removeService(
  call: Call,
  name: string,
  check: (service: StoredService) => Refusal | undefined,
): Promise<{ name: string } | Refusal> {
  for (;;) {
    const found = await call.store(services).find(name)
    // Says what a stranger may know of it: there is none, or it is another tenant's.
    if (!found) await call.store(services).remove(name)
    if (!found) return noSuchObject(services.name)
    const refusal = check(found.value)
    if (refusal) return refusal
    const outcome = isExpired(found.value, call.now()) ? 'expired' : 'removed'
    // False: a renewal came between.
    if (!(await withdrawService(call, found, outcome))) continue
    return outcome === 'removed' ? { name } : noSuchObject(services.name)
  }
}
