// The routing of the profile, and the client by which the site's own services register.
import type { RoutingOptions } from '../../../shared/routing/routing-table.ts'
import type { ServiceBackends } from '../../../shared/routing/site-routing.ts'

export type SiteRouting = {
  /** Processes of services that the profile names. */
  readonly backends: ServiceBackends
  readonly options: RoutingOptions
  /** Subject of the tokens of the client of the site; undefined where only its identity provider knows it. */
  readonly own_subject: string | undefined
}
