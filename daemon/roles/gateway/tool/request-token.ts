// Requests the token with which the gateway acts at another service in the name of a caller.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { DelegationAudience } from '../../../kernel/identity/delegation.ts'
import type { Call } from '../../../kernel/operation/call.ts'

/** `audience`: for whom the token is; undefined: the service takes none. */
export type TokenTarget = { readonly service: string; readonly audience: DelegationAudience | undefined }

/** A ceiling is carried by the token alone. */
export async function requestToken(
  call: Call,
  { audience, service }: TokenTarget,
  ceiling: string | undefined,
): Promise<string | undefined | Refusal> {
  if (audience === undefined) {
    if (ceiling === undefined) return undefined
    return refuse(
      'forbidden',
      `a guardrail limits this call to ${ceiling}, which ${service} cannot know: it takes no token`,
    )
  }
  const issued = await call.delegation().token(audience, ceiling)
  return isRefusal(issued) ? issued : issued.token
}
