// Holds the OpenAPI documents to the published OpenAPI 3.1 schema, and to what the running services are.
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { listPaths } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import manifest from '../../package.json' with { type: 'json' }
import { everyRoleSections, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

test('each role serves a valid OpenAPI 3.1 document of all its operations', async () => {
  const site = await startSingleClusterSite(everyRoleSections)
  const token = await site.token({ roles: ['admin'] })
  for (const role of everyRole) {
    const { json, headers } = await site.request(role.name, { method: 'GET', path: '/openapi.json', token })
    expect(headers['content-type']).toBe('application/json')
    const validator = new Validator()
    const verdict = await validator.validate(structuredClone(json) as Record<string, unknown>)
    expect(verdict).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
    const { info, paths } = json as { info: { version: string }; paths: Record<string, Record<string, unknown>> }
    expect(info.version).toBe(manifest.version)
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((one) => `${one} ${path}`),
    )
    const served = operationsOf(role).flatMap(({ operation }) =>
      listPaths(operation).map((path) => `${operation.method.toLowerCase()} ${path}`),
    )
    expect(described.sort()).toEqual(served.sort())
  }
  await site.close()
})

test('the validator would see a fault', async () => {
  const broken = { openapi: '3.1.0', info: { title: 'x' }, paths: { '/a': { get: { responses: { abc: {} } } } } }
  expect((await new Validator().validate(broken)).valid).toBe(false)
})
