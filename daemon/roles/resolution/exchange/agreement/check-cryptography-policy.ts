// Refuses exchanges whose protection rests on algorithms outside the policy of this site.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { CryptographyPolicy } from '../../../../kernel/settings/cryptography-settings.ts'
import type { ExchangeAgreement } from './agreement.ts'

/** Blinded keys are points of Curve25519, and the key of vectors is agreed by X25519: neither is approved (SP 800-56A). */
export function checkCryptographyPolicy(
  { policy }: { readonly policy: CryptographyPolicy },
  { privacy }: Pick<ExchangeAgreement, 'privacy'>,
): Refusal | undefined {
  if (policy !== 'fips' || privacy === 'none') return undefined
  return refuse(
    'forbidden',
    `privacy ${privacy} uses X25519, which cryptography.policy fips does not allow at this site: agree to privacy none, or exchange no records`,
  )
}
