// The secret of this site in one exchange: 32 random bytes, stored sealed, which blind keys or agree on a key for vectors.
import { deriveX25519PublicKey } from '../../../kernel/cryptography/key-agreement.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { SealedSecret } from '../../../kernel/secret/sealed-secret.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { openSecretField, sealSecretField } from '../../../shared/data-key/data-key.ts'
import type { ExchangeAgreement } from './agreement/agreement.ts'
import { exchanges, type StoredExchange } from './model.ts'

/** `public_key`: only with clk; it goes to the other party. */
export type ExchangeSecret = { readonly sealed: SealedSecret; readonly public_key?: string }

/** Undefined for an exchange that protects nothing. Throws `Refusal('unavailable')` without role `site`. */
export async function createExchangeSecret(
  call: Call,
  tenant_id: string,
  { exchange_id: id, privacy }: Pick<ExchangeAgreement, 'exchange_id' | 'privacy'>,
): Promise<ExchangeSecret | undefined> {
  if (privacy === 'none') return undefined
  const text = call.random(32)
  const sealed = await sealSecretField(call, exchanges, { id, tenant_id }, 'secret', text)
  return privacy === 'psi' ? { sealed } : { sealed, public_key: deriveX25519PublicKey(Buffer.from(text, 'hex')) }
}

/** The fields of an exchange whose secret is this one. */
export function buildSecretFields(
  { keys }: Pick<StoredExchange, 'keys'>,
  self: string,
  secret: ExchangeSecret | undefined,
): Pick<StoredExchange, 'secret' | 'keys'> {
  if (!secret) return { keys }
  const { sealed, public_key } = secret
  return { secret: sealed, keys: public_key === undefined ? keys : { ...keys, [self]: public_key } }
}

/** Throws `Refusal('unavailable')` without role `site`, and `Refusal('internal')` for a secret that is lost. */
export async function openExchangeSecret(call: Call, { id, value }: Doc<StoredExchange>): Promise<Uint8Array> {
  const { secret, tenant_id } = value
  if (secret === undefined) throw new Error(`${id} has no secret`)
  // An earlier release stored it as text; housekeeping seals it.
  const text =
    typeof secret === 'string' ? secret : await openSecretField(call, exchanges, { id, tenant_id }, 'secret', secret)
  return new Uint8Array(Buffer.from(text, 'hex'))
}
