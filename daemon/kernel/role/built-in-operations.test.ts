// A role cannot declare what every role has, and no operation of it hides another.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type AnyOperation, operation } from '../operation/operation.ts'
import { operationsOf } from './built-in-operations.ts'
import type { Role } from './role.ts'

const declare = (served: Pick<AnyOperation, 'method' | 'path' | 'tool' | 'surface' | 'also'>) =>
  operation({
    summary: 'Register a service',
    input: z.strictObject({}),
    output: z.strictObject({}),
    errors: [],
    allow: 'gateway:register',
    run: async () => ({}),
    ...served,
  })
const gateway = (operations: Role['operations']) => ({ name: 'gateway', api_prefix: '/api/v1', operations }) as Role

const register = declare({ method: 'POST', path: '/api/v1/entry/{id}', tool: 'gateway_register' })

test.each<[what: string, operations: Role['operations'], fault: string]>([
  [
    'the noun of every role',
    { service: { register } },
    'the role gateway declares the noun "service", which every role',
  ],
  [
    'the tool of another operation',
    { entry: { register, list: declare({ method: 'GET', path: '/api/v1/entry', tool: 'gateway_register' }) } },
    'gateway.entry.list and gateway.entry.register are both served as the tool gateway_register',
  ],
  [
    'its tool on another surface',
    { entry: { register, ask: declare({ method: 'GET', tool: 'gateway_register', surface: 'admin_chat' }) } },
    'gateway.entry.ask and gateway.entry.register are both served as the tool gateway_register',
  ],
  [
    'the path of another operation',
    { entry: { register, change: declare({ method: 'POST', path: '/api/v1/entry/{name}' }) } },
    'gateway.entry.change and gateway.entry.register are both served as POST /api/v1/entry/{}',
  ],
  [
    'the path of another operation as a further one',
    { entry: { register, change: declare({ method: 'POST', path: '/x', also: ['/api/v1/entry/{id}'] }) } },
    'gateway.entry.change and gateway.entry.register are both served as POST /api/v1/entry/{}',
  ],
  [
    'a path of every role',
    { entry: { register, live: declare({ method: 'GET', path: '/api/v1/health' }) } },
    'gateway.service.health and gateway.entry.live are both served as GET /api/v1/health',
  ],
])('a role cannot have %s', (_, operations, fault) => {
  expect(() => operationsOf(gateway(operations))).toThrow(fault)
})

test('one path takes several methods, and a path its tool', () => {
  const get = declare({ method: 'GET', path: '/api/v1/entry/{id}', tool: 'gateway_get' })
  expect(
    operationsOf(gateway({ entry: { register, get } }))
      .map(({ address }) => address)
      .slice(0, 2),
  ).toEqual(['gateway.entry.register', 'gateway.entry.get'])
})
