// Finds this site's copy of the lens that an agreement names.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { text_form } from '../../engine/text/text-form.ts'
import { findVersion } from '../../lens/find-lens.ts'
import type { StoredLens } from '../../lens/stored-lens.ts'
import type { ExchangeAgreement } from './agreement.ts'

/** Refuses an agreement whose proposer normalised texts in another form than this site does. */
export function refuseOtherTextForm(
  { parties, text_form: form = 1 }: ExchangeAgreement,
  self: string,
): Refusal | undefined {
  if (form === text_form) return undefined
  const [proposer] = parties
  if (proposer === self)
    return refuse(
      'invalid',
      `this site was updated: it normalises texts in form ${text_form}, and proposed in form ${form}: propose again`,
    )
  return refuse(
    'invalid',
    `${proposer} normalises texts in form ${form}, and this site in form ${text_form}: run the same version of the product at both sites, and propose again`,
  )
}

/**
 * Refuses `not_found` where this tenant does not have the lens, and `invalid` where it differs from the peer's, or the
 * peer normalises texts in another form: records that are equal would then silently have different keys.
 */
export async function findAgreedLens(
  call: Call,
  tenant_id: string,
  agreement: ExchangeAgreement,
): Promise<Doc<StoredLens> | Refusal> {
  const { lens, lens_version, lens_digest } = agreement
  const other = refuseOtherTextForm(agreement, call.site.name)
  if (other) return other
  const doc = await findVersion(call, tenant_id, { lens, lens_version, digest: lens_digest })
  if (!doc)
    return refuse('not_found', `this site has no lens ${lens} ${lens_version}: create the lens of the peer here first`)
  return doc.value.digest === lens_digest
    ? doc
    : refuse(
        'invalid',
        `the lens ${lens} ${lens_version} differs from the peer's: both sites must have an identical one`,
      )
}
