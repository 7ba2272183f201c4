// Gets one registered service.
import * as z from 'zod'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { registeredService } from '../../../shared/service-registry/registered-service.ts'
import { describeTools } from './describe-tools.ts'
import { services } from './model.ts'
import { showService } from './rules.ts'

export const get = operation({
  summary: 'Get a service that is registered with the gateway',
  method: 'GET',
  path: '/api/v2/gateway/service/{name}',
  input: z.strictObject({ name: serviceName }),
  output: registeredService,
  errors: ['not_found'],
  allow: 'gateway:read',

  async run(call, { name }) {
    const { value } = await call.store(services).get(name)
    if (value.state === 'claiming') return noSuchObject(services.name)
    return showService(value, call.now(), (await describeTools(call)).get(name))
  },
})
