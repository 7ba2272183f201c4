// The registration of a service with the gateway of a site's network, as one sends it and the other takes it.
import * as z from 'zod'
import { componentKinds } from '../../kernel/settings/gateway-settings.ts'

/** Path of registrations below the URL of a gateway: POST registers or renews, DELETE of `/{name}` ends. */
export const registration_path = '/api/v1/register'

export const serviceRegistration = z.strictObject({
  /** That of service-info. */
  name: z.string().min(1).max(64),
  /** Base URL at which the gateway reaches the service, and reads its service-info. */
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  /** Time after which the registration ends, unless it is renewed. */
  ttl_seconds: z.int().min(1),
  component_kind: z.enum(componentKinds),
})
export type ServiceRegistration = z.infer<typeof serviceRegistration>

/** `refused`: the gateway answered, but not that it did so. `reason`: without content of the answer. */
export type RegistrarAnswer = { readonly failed?: 'refused' | 'unreachable'; readonly reason: string }

/** Each within a time limit, whatever the gateway does; never rejects. */
export type ServiceRegistrar = {
  register(registration: ServiceRegistration, token: string, signal: AbortSignal): Promise<RegistrarAnswer>
  deregister(name: string, token: string, signal: AbortSignal): Promise<RegistrarAnswer>
}
