// Ends the registration of any service: for administrators.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { removeService } from '../registration/remove-service.ts'

export const remove = operation({
  summary: 'End the registration of any service',
  method: 'DELETE',
  path: '/api/v2/gateway/service/{name}',
  input: z.strictObject({ name: serviceName }),
  output: z.strictObject({ name: serviceName }).meta({ id: 'RemovedService' }),
  errors: ['not_found', 'not_your_tenant'],
  allow: 'gateway:admin',

  run: (call, { name }) => removeService(call, name, () => undefined),
})
