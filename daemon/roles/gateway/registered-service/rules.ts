// When a registration has ended, and which objects a service holds.
import type { RegisteredService, RegisteredServiceTools } from '../../../shared/service-registry/registered-service.ts'
import type { StoredService } from './model.ts'

export function isExpired({ ends_ts }: Pick<StoredService, 'ends_ts'>, now: number): boolean {
  return ends_ts <= now
}

/** Whether the service has the object, or is about to have it. */
export function listsObject({ objects, claiming }: StoredService, object: string): boolean {
  return objects.includes(object) || claiming.includes(object)
}

/** As the gateway shows it, by the time of the call. */
export function showService(service: StoredService, now: number, tools?: RegisteredServiceTools): RegisteredService {
  const { tenant_id: _site, attempt: _attempt, claiming: _claiming, ...kept } = service
  const { state, info_ts, registered_ts, ends_ts, ttl_s, ...shown } = kept
  return {
    ...shown,
    // A first registration that is not yet through is in no list.
    state: isExpired(service, now) || state === 'claiming' ? 'expired' : state,
    info_at: new Date(info_ts).toISOString(),
    ttl_seconds: ttl_s,
    registered_at: new Date(registered_ts).toISOString(),
    expires_at: new Date(ends_ts).toISOString(),
    ...(tools ? { tools } : {}),
  }
}
