// Follows the tools and resources of one service: offers those that are listed as they were accepted, and holds those that have changed.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { followTools, type ServiceLists } from '../../../kernel/tools/follow-tools.ts'
import type { AggregatedResource } from '../resource/aggregated-resource.ts'
import { settings } from '../settings.ts'
import type { AggregatedTool } from '../tool/aggregated-tool.ts'
import type { RegisteredEndpoint } from './find-endpoint.ts'
import { holdTools } from './hold-tools.ts'
import { loadAcceptedTools } from './load-accepted.ts'
import { type AcceptedTool, type StoredApproval, toolApprovals } from './model.ts'
import { offerResource } from './offered-resource.ts'
import { offerTool } from './offered-tool.ts'
import { serviceToolsPart } from './parts.ts'
import { readLists } from './read-tools.ts'
import { compareList, isResource, type ListComparison, type ListedTool } from './rules.ts'

export class ServiceFollowing {
  readonly #call: Call
  readonly #endpoint: RegisteredEndpoint
  readonly #approval: StoredApproval
  #listed: readonly ListedTool[] | undefined
  /** Whether the resources are among them: their list may be unreadable while that of the tools is not. */
  #hasResources = false
  /** Why the list could not be read last, so that each reason is logged once. */
  #trouble: string | undefined
  #isReplaced = false
  readonly #ending = new AbortController()
  /** Of the whole following; never rejects. */
  readonly ended: Promise<void>
  isOver = false

  /** `former`: of the same endpoint, before the acceptance: what it has read is offered until the list is read again. */
  constructor(call: Call, endpoint: RegisteredEndpoint, approval: StoredApproval, former?: ServiceFollowing) {
    this.#call = call
    this.#endpoint = endpoint
    this.#approval = approval
    this.#listed = former ? former.#listed : undefined
    this.#hasResources = former ? former.#hasResources : false
    this.ended = this.#run()
  }

  /** Whether it reads the list of this endpoint, as the approval permits. */
  suits({ url, registered_by, component_kind }: RegisteredEndpoint, { authentication }: StoredApproval): boolean {
    const { url: own, registered_by: owner, component_kind: kind } = this.#endpoint
    const isSame = own.href === url.href && owner === registered_by && kind === component_kind
    return isSame && this.#approval.authentication === authentication
  }

  /** Follows by another approval of the same service: the list is read again, since this one may be older than the acceptance. */
  async replace(approval: StoredApproval): Promise<ServiceFollowing> {
    if (approval.revision === this.#approval.revision) return this
    this.#isReplaced = true
    await this.end()
    return new ServiceFollowing(this.#call, this.#endpoint, approval, this)
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await this.ended
  }

  async #run(): Promise<void> {
    const { service } = this.#endpoint
    try {
      await this.#follow(AbortSignal.any([this.#call.signal, this.#ending.signal]))
    } catch (error) {
      this.#report(isRefusal(error) ? error.message : String(error))
    } finally {
      this.isOver = true
      if (!this.#isReplaced) {
        this.#call.part(serviceToolsPart).states.delete(service)
        this.#publish([])
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { services, addressOf, states } = this.#call.part(serviceToolsPart)
    const address = addressOf(this.#endpoint, () => this.#requestToken())
    if (this.#listed) await this.#offerListed(this.#listed)
    // Another acceptance begins another following.
    const accepted = await loadAcceptedTools(this.#call, this.#endpoint.service)
    const hasResources = accepted.some(({ value }) => isResource(value.definition))
    for await (const listing of followTools(services, address, this.#call, signal, hasResources)) {
      if ('trouble' in listing) {
        this.#report(listing.trouble.message)
        states.set(this.#endpoint.service, { ...states.get(this.#endpoint.service), trouble: listing.trouble.message })
        continue
      }
      await this.#adopt(listing)
    }
  }

  /** Resources whose list cannot be read stay as they were at its last reading, as tools do. */
  async #adopt({ tools, resources }: ServiceLists): Promise<void> {
    const isUnread = isRefusal(resources)
    const listed = await readLists(this.#call, tools, isUnread ? [] : (resources ?? []))
    const former = isUnread ? (this.#listed ?? []).filter(({ definition }) => isResource(definition)) : []
    this.#hasResources ||= resources !== undefined && !isUnread
    this.#listed = [...listed, ...former]
    if (isUnread) this.#report(resources.message)
    else this.#trouble = undefined
    // They are withdrawn already: nobody calls them while the store is slow.
    await holdTools(this.#call, this.#endpoint.service, (await this.#offerListed(this.#listed)).changed)
    const { states } = this.#call.part(serviceToolsPart)
    const { service } = this.#endpoint
    if (isUnread) states.set(service, { ...states.get(service), trouble: resources.message })
  }

  async #requestToken(): Promise<string | undefined> {
    const { authentication, principal, service } = this.#approval
    if (authentication === 'none' || !principal) return undefined
    const issued = await this.#call
      .delegation(principal, { collection: toolApprovals.name, id: service })
      .token({ service })
    if (isRefusal(issued)) throw issued
    return issued.token
  }

  /** Offers what is listed as it was accepted. Returns the comparison of the accepted tools with the list. */
  async #offerListed(listed: readonly ListedTool[]): Promise<ListComparison> {
    const { service } = this.#endpoint
    const accepted = (await loadAcceptedTools(this.#call, service)).map(({ value }) => value)
    const comparison = compareList(accepted, listed)
    this.#publish(accepted.filter(({ name }) => comparison.same.has(name)))
    const names = new Set(listed.map(({ name }) => name))
    this.#call.part(serviceToolsPart).states.set(service, { listed: names, hasResources: this.#hasResources })
    return comparison
  }

  #publish(accepted: readonly AcceptedTool[]): void {
    const time_limit_ms = this.#call.settings(settings).tool_call_s * 1_000
    const terms = [this.#endpoint, this.#approval, time_limit_ms] as const
    const tools: AggregatedTool[] = []
    const resources: AggregatedResource[] = []
    for (const { definition, ...each } of accepted)
      if (isResource(definition)) resources.push(offerResource({ ...each, definition }, ...terms))
      else tools.push(offerTool({ ...each, definition }, ...terms))
    this.#call.part(serviceToolsPart).offer(this.#endpoint.service, { tools, resources })
  }

  #report(trouble: string): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    const { trace_id } = this.#call.trace
    this.#call.log.warn('gateway.tool.unread', { trace_id, service: this.#endpoint.service, reason: trouble })
  }
}
