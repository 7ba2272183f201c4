// Returns the result of matching arrived records.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { arrivals, arrivalView } from './model.ts'
import { showArrival } from './show-arrival.ts'

export const get = operation({
  summary: 'Get the result of matching arrived records: their entities, once they are matched',
  method: 'GET',
  path: '/api/v2/arrival/{uid}',
  input: uidInput,
  output: arrivalView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  async run(call, { uid }) {
    return await showArrival(call, await call.store(arrivals).get(uid))
  },
})
