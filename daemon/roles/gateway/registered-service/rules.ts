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

/** As the gateway shows it, by the time of the call. Each field by name: copying the rest of an object takes five times as long. */
export function showService(service: StoredService, now: number, tools?: RegisteredServiceTools): RegisteredService {
  const { state, version, api_path, health_path, mcp_path, last_error } = service
  return {
    name: service.name,
    url: service.url,
    component_kind: service.component_kind,
    source: service.source,
    // A first registration that is not yet through is in no list.
    state: isExpired(service, now) || state === 'claiming' ? 'expired' : state,
    objects: service.objects,
    version,
    api_path,
    health_path,
    mcp_path,
    tools_count: service.tools_count,
    info_sha256: service.info_sha256,
    info_at: new Date(service.info_ts).toISOString(),
    last_error,
    ttl_seconds: service.ttl_s,
    registered_by: service.registered_by,
    registered_at: new Date(service.registered_ts).toISOString(),
    expires_at: new Date(service.ends_ts).toISOString(),
    tools,
  }
}
