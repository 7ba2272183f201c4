// Claims objects for a service, so that of several registrations at once exactly one owns an object, over any store.
//
// A registration first writes the objects into the document of its service, then makes or rewrites the claim of each object
// under the version that it has read. Another service takes a claim only after it has found that the holder does not list the
// object, or has ended its registration: then either the first has not yet rewritten the claim, and finds the other one there,
// or it has, and the version differs.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { services } from '../registered-service/model.ts'
import { isExpired, listsObject } from '../registered-service/rules.ts'
import { objectClaims } from './model.ts'
import { withdrawService } from './withdraw-service.ts'

export type ClaimConflict = { readonly object: string; readonly owner: string }

/**
 * In the order of names: of two registrations with common objects, the loser has claimed none of those when it meets the
 * first, so that the other one gets them all.
 */
export async function claimObjects(
  call: Call,
  service: string,
  objects: readonly string[],
): Promise<ClaimConflict | undefined> {
  for (const object of objects.toSorted()) {
    const owner = await claimObject(call, service, object)
    if (owner !== undefined) return { object, owner }
  }
  return undefined
}

/** The owner, if another service has the object. */
async function claimObject(call: Call, service: string, object: string): Promise<string | undefined> {
  const claims = call.store(objectClaims)
  const claim = { tenant_id: call.site.tenant_id, object, service }
  for (;;) {
    if ((await claims.create(object, claim)) !== 'exists') return undefined
    const seen = await claims.find(object)
    if (!seen) continue
    if (seen.value.service !== service) {
      const holder = await call.store(services).find(seen.value.service)
      if (holder && !isExpired(holder.value, call.now())) {
        if (listsObject(holder.value, object)) return holder.id
      } else if (holder && !(await withdrawService(call, holder, 'expired'))) continue
    }
    if (await rewriteClaim(call, seen, claim)) return undefined
  }
}

/** False: another registration was first. */
async function rewriteClaim(
  call: Call,
  seen: Doc<object>,
  claim: { tenant_id: string; object: string; service: string },
) {
  try {
    const { answer } = await call
      .store(objectClaims)
      .update(claim.object, ({ version }) =>
        version === seen.version ? { next: claim, answer: true } : { answer: false },
      )
    return answer
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return false
    throw error
  }
}
