// Acts in the name of a principal: requests grants, rights and tokens from the site role, and operations of others with them.
import { isRefusal, type Refusal, refuse } from '../kernel/error/errors.ts'
import type {
  DelegatedToken,
  DelegatingCredential,
  Delegation,
  DelegationAudience,
  Principal,
  StoredPrincipal,
  WorkPlace,
} from '../kernel/identity/delegation.ts'
import type { RoleClients } from '../kernel/operation/operation-contract.ts'
import type { Trace } from '../kernel/telemetry/trace.ts'
import { createGrant, issueDelegatedToken, resolvePrincipal } from '../shared/delegation/delegation.ts'
import type { RoleCaller } from './role-caller.ts'
import { SiteRoleClients } from './role-clients.ts'

type CredentialInput = {
  readonly subject_token?: string
  readonly certificate?: string
  readonly grant?: string
  readonly stored_at?: WorkPlace
}

/** One object for each use. The credential goes to the site role, and nowhere else. */
export class SiteDelegation implements Delegation {
  /** Requests in the role's own name. */
  readonly #clients: SiteRoleClients
  readonly #credential: CredentialInput | undefined
  readonly roles: RoleClients

  constructor(request: RoleCaller, trace: Trace, credential: DelegatingCredential | undefined, end?: AbortSignal) {
    this.#clients = new SiteRoleClients(request, trace, end)
    this.#credential = credential && encodeCredential(credential)
    this.roles = new SiteRoleClients(
      async (target, input, trace, options) => {
        const issued = await this.token({ role: target.role })
        if (isRefusal(issued)) throw issued
        return await request(target, input, trace, { ...options, delegated: issued.token })
      },
      trace,
      end,
    )
  }

  async store(work: WorkPlace): Promise<StoredPrincipal | Refusal> {
    if (!this.#credential) return noPrincipal()
    const created = await this.#clients.request(createGrant, { ...this.#credential, work })
    return isRefusal(created) ? created : { ...created.principal, grant: created.grant }
  }

  async principal(): Promise<Principal | Refusal> {
    if (!this.#credential) return noPrincipal()
    return await this.#clients.request(resolvePrincipal, this.#credential)
  }

  async token(audience: DelegationAudience, max_level?: string): Promise<DelegatedToken | Refusal> {
    if (!this.#credential) return noPrincipal()
    const limit = max_level === undefined ? {} : { max_level }
    return await this.#clients.request(issueDelegatedToken, { ...this.#credential, audience, ...limit })
  }
}

function encodeCredential(credential: DelegatingCredential): CredentialInput {
  if ('grant' in credential) return { grant: credential.grant, stored_at: credential.work }
  if ('subject_token' in credential) return { subject_token: credential.subject_token }
  return { certificate: Buffer.from(credential.certificate).toString('base64url') }
}

function noPrincipal(): Refusal {
  return refuse('forbidden', 'the caller is a role of the site, or nobody: there is no principal to act for')
}
