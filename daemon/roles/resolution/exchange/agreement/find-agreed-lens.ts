// Finds the lens that an agreement names, as this site has it.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { lenses, lensUid, type StoredLens } from '../../lens/stored-lens.ts'
import type { ExchangeAgreement } from './agreement.ts'

/** The lens of the agreement as this tenant has it; refused where it is not there, or says something else here. */
export async function findAgreedLens(
  call: Call,
  tenant_id: string,
  agreement: ExchangeAgreement,
): Promise<Doc<StoredLens> | Refusal> {
  const { lens, lens_version, lens_digest } = agreement
  const found = await call.store(lenses).find(lensUid(tenant_id, lens, lens_version))
  if (!found) return refuse('not_found', `this site has no lens ${lens} ${lens_version}`)
  return found.value.digest === lens_digest
    ? found
    : refuse('invalid', `${lens} ${lens_version} says something else at the peer`)
}
