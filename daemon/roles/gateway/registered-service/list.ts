// Lists the registered services by name, also those whose registration has just ended.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { componentKinds } from '../../../kernel/settings/gateway-settings.ts'
import { registeredService, registrationSources } from '../../../shared/service-registry/registered-service.ts'
import { describeTools } from './describe-tools.ts'
import { services } from './model.ts'
import { showService } from './rules.ts'

export const list = operation({
  summary: 'List the services that are registered with the gateway, by name',
  method: 'GET',
  path: '/api/v2/gateway/service',
  input: z.strictObject({
    ...listFields,
    source: z.enum(registrationSources).optional(),
    component_kind: z.enum(componentKinds).optional(),
  }),
  output: pageSchema(registeredService).meta({ id: 'RegisteredServicePage' }),
  errors: [],
  allow: 'gateway:read',

  async run(call, { limit, cursor, ...filters }) {
    const query = buildListQuery(filters, limit, cursor)
    const filter = { ...query.filter, state: { in: ['live', 'unverified'] } }
    const { docs, ...counted } = await call.store(services).page({ ...query, filter })
    const tools = await describeTools(call)
    return { items: docs.map(({ value }) => showService(value, call.now(), tools.get(value.name))), ...counted }
  },
})
