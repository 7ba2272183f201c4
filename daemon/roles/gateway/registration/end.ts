// Ends the registration of a service, for its registrant.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { registration_path } from '../../../shared/service-registration/service-registration.ts'
import { removeService } from './remove-service.ts'
import { isRegistrant } from './rules.ts'

export const end = operation({
  summary: 'End the registration of a service; only the subject that registered it may',
  method: 'DELETE',
  path: `${registration_path}/{name}`,
  input: z.strictObject({ name: serviceName }),
  output: z.strictObject({ name: serviceName }).meta({ id: 'RegistrationEnded' }),
  errors: ['not_found', 'not_your_tenant'],
  allow: 'gateway:register',

  run: (call, { name }) =>
    removeService(call, name, (service) =>
      isRegistrant(service, call.caller.subject)
        ? undefined
        : refuse('forbidden', `another subject has registered ${name}`),
    ),
})
