// Registers a service with the gateway, or renews its registration; a renewal is the same request.
import * as z from 'zod'
import { type ErrorCode, isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { serviceName, serviceOrigin } from '../../../shared/routing/ingress-settings.ts'
import { registration_path, serviceRegistration } from '../../../shared/service-registration/service-registration.ts'
import { registrationTotal } from '../metrics.ts'
import { serviceInfoReaderPart } from '../parts.ts'
import { registerService } from './register-service.ts'

const registered = z
  .strictObject({
    name: serviceName,
    outcome: z.enum(['registered', 'changed', 'renewed']),
    state: z.enum(['live', 'unverified']),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'ServiceRegistered' })

export const register = operation({
  summary: 'Register a service with the gateway, or renew its registration',
  method: 'POST',
  path: registration_path,
  input: serviceRegistration.extend({
    name: serviceName,
    url: serviceOrigin,
    ttl_seconds: z.int().min(10).max(86_400),
  }),
  output: registered,
  errors: ['already_exists', 'conflict', 'rate_limited', 'not_your_tenant'],
  allow: 'gateway:register',

  async run(call, input) {
    const { subject, tenant_id } = call.caller
    if (tenant_id !== call.site.tenant_id)
      return refuse('not_your_tenant', 'the registry of the gateway belongs to the tenant of the site')
    const url = input.url.replace(/\/$/, '')
    const request = { ...input, url, subject, source: 'push' } as const
    const answer = await registerService(call, request, () => call.part(serviceInfoReaderPart)(url, call.signal))
    if (isRefusal(answer)) {
      call.count(registrationTotal, { outcome: outcomeOf(answer.code) })
      return answer
    }
    call.count(registrationTotal, { outcome: answer.outcome })
    const { name, state, ends_ts } = answer.service
    return {
      ...{ name, outcome: answer.outcome, expires_at: new Date(ends_ts).toISOString() },
      state: state === 'unverified' ? ('unverified' as const) : ('live' as const),
    }
  },
})

function outcomeOf(code: ErrorCode): 'invalid' | 'conflict' | 'refused' {
  if (code === 'invalid') return 'invalid'
  return code === 'already_exists' || code === 'conflict' ? 'conflict' : 'refused'
}
