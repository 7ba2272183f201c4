// Parts of the gateway role: how it reads service-info, and what the profile says of routing and of the site's own client.
import { part } from '../../kernel/role/part.ts'
import type { SiteRouting } from './route/model.ts'

/** `url_not_allowed`: nothing was sent. The reason has no address, and no text of the answer. */
export type ServiceInfoFault = {
  readonly fault: 'url_not_allowed' | 'service_unreachable' | 'service_info_invalid'
  readonly reason: string
}

export type ServiceInfoReading = { readonly value: unknown } | ServiceInfoFault

/** Reads `/service-info` at an origin, within limits of time and size; throws only the reason of the signal. */
export type ServiceInfoReader = (url: string, signal: AbortSignal) => Promise<ServiceInfoReading>
export const serviceInfoReaderPart = part<ServiceInfoReader>('service-info-reader')

export const siteRoutingPart = part<SiteRouting>('site-routing')

/** When the URLs of the profile were read last, by the clock that never jumps, and why some of them failed then. */
export type PullRounds = { last_ms: number | undefined; readonly failures: Map<string, string> }
export const pullRoundsPart = part<PullRounds>('pull-rounds')
