// Delegation in the site role: verified credentials, the register of rights, and what the runtime supplies.

import type { Refusal } from '../../../kernel/error/errors.ts'
import type {
  CredentialOrigin,
  DelegatedToken,
  DelegationAudience,
  Principal,
  WorkPlace,
} from '../../../kernel/identity/delegation.ts'
import type { Actor } from '../../../kernel/identity/identity.ts'
import type { OAuthClient } from '../token/model.ts'

/** A credential that is valid now, as the requesting role would judge it, or a grant of that role. */
export type VerifiedCredential = Principal & {
  readonly jti: string
  /** Seconds since 1970. */
  readonly exp: number
  readonly act?: Actor | undefined
  readonly derived_from?: readonly string[] | undefined
  readonly origin: CredentialOrigin
  /** End of the grant that it is, or was made from: what it stores ends no later. Seconds since 1970. */
  readonly grant_exp?: number | undefined
}

/** What the site lists about principals now. */
export type PrincipalRegister = {
  readonly clients: readonly OAuthClient[]
  readonly certificate_holders: readonly Principal[]
  /** Roles that the identity provider can still give; absent: the site trusts none. */
  readonly provider?: { readonly issuer: string; readonly roles: readonly string[] } | undefined
  /** Roles of users that exist. */
  readonly role_names: readonly string[]
}

/** For whom each role of the site may request tokens. */
export type DelegationTargets = {
  /** Roles whose operations it requests. */
  readonly roles: ReadonlySet<string>
  /** Services outside the site. */
  readonly services: ReadonlySet<string>
}

/** Exactly one credential is given. `stored_at`: the place of the work that has the grant. */
export type PresentedPrincipal = {
  readonly subject_token?: string | undefined
  readonly certificate?: string | undefined
  readonly grant?: string | undefined
  readonly stored_at?: WorkPlace | undefined
}

export type DelegatedClaims = Principal & {
  readonly act?: Actor | undefined
  readonly derived_from: readonly string[]
  readonly origin: CredentialOrigin
  readonly grant_exp?: number | undefined
}

/** Supplied by the runtime. */
export type Delegations = {
  readonly register: PrincipalRegister
  /** Life of a grant in seconds. */
  readonly grant_life_s: number
  targetsOf(role: string): DelegationTargets
  /** Refuses a credential that is not valid, with the reason. Throws `Refusal('unavailable')`. */
  verify(role: string, presented: PresentedPrincipal): Promise<VerifiedCredential | Refusal>
  /** A grant for work of the role at one place; `exp` in seconds since 1970. */
  seal(role: string, work: WorkPlace, claims: DelegatedClaims, exp: number): Promise<string>
  mint(role: string, claims: DelegatedClaims, audience: DelegationAudience, exp: number): Promise<DelegatedToken>
  /** Whether the identity provider that issued this token exchanges it. */
  isExchangedAbroad(presented: PresentedPrincipal): boolean
  /** Returns `forbidden` with the provider's error code; throws `Refusal('unavailable')`. */
  exchangeAbroad(subject_token: string, service: string): Promise<DelegatedToken | Refusal>
  /** Returns the stored token, or stores the new one, while it is valid for at least half of its life. */
  reuse(key: string, create: () => Promise<DelegatedToken | Refusal>): Promise<DelegatedToken | Refusal>
}
