// Everything that the project shows to others: every change is seen in review, and accepted by `npm run accept`.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { linkMetrics } from '../../daemon/boot/links/transports.ts'
import { everyOperation } from '../../daemon/every-role.ts'
import { listSettingsBlocks } from '../../daemon/boot/profile.ts'
import { builtInMetrics } from '../../daemon/boot/service.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { buildOpenapi } from '../../daemon/kernel/api/openapi.ts'
import { deriveTools } from '../../daemon/kernel/api/mcp-tools.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { routedServices } from '../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting } from '../../daemon/shared/routing/routing-table.ts'
import { everyMessageSchema } from '../support/golden/every-message-schema.ts'
import { expectGolden } from '../support/golden/expect-golden.ts'
import { formatDoctorCodes } from '../support/golden/format-doctor-codes.ts'
import { formatHelp } from '../support/golden/format-help.ts'
import { formatMessageSchemas } from '../support/golden/format-message-schemas.ts'
import { formatMetrics } from '../support/golden/format-metrics.ts'
import { formatOperations } from '../support/golden/format-operations.ts'
import { formatRoutes } from '../support/golden/format-routes.ts'
import { formatSettings } from '../support/golden/format-settings.ts'
import { formatTools } from '../support/golden/format-tools.ts'
import { everyRoleSections, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

test('operations', () => expectGolden('test/golden/operations.txt', formatOperations(everyOperation)))

// The version is left out, so that a release changes nothing here.
test.each(everyRole.map((role) => [role.name, role] as const))('OpenAPI document of %s', (name, role) => {
  const document = buildOpenapi(`platform ${name}`, '0.0.0', role.purpose, operationsOf(role))
  expectGolden(`test/golden/openapi/${name}.json`, `${JSON.stringify(document, undefined, 2)}\n`)
})

test('tools', () => expectGolden('test/golden/tools.txt', formatTools(deriveTools(everyOperation))))

test('settings', () => expectGolden('docs/settings.md', formatSettings(listSettingsBlocks(everyRole))))

test('codes of the doctor', () => expectGolden('docs/doctor.md', formatDoctorCodes()))

test('bodies of messages', () => expectGolden('docs/message-schemas.md', formatMessageSchemas(everyMessageSchema)))

test('each setting has a description', () => {
  const unlisted = listSettingsBlocks(everyRole).flatMap((block) =>
    Object.keys(block.shape).filter((field) => !formatSettings([block]).includes(`| \`${field}\` |`)),
  )
  expect(unlisted).toEqual([])
  const lines = formatSettings(listSettingsBlocks(everyRole)).split('\n')
  expect(
    lines.filter((line) => /\| {2}\|$/.test(line)),
    'give each setting a `doc` in its meta',
  ).toEqual([])
})

test('metrics', async () => {
  const site = await startSingleClusterSite(everyRoleSections)
  const token = await site.token({ roles: ['admin'] })
  const texts: string[] = []
  for (const role of everyRole) {
    const { text } = await site.request(role.name, { method: 'GET', path: '/metrics', token })
    texts.push(formatMetrics(role.name, text, [...role.metrics, ...builtInMetrics, ...linkMetrics]))
  }
  await site.close()
  expectGolden('test/golden/metrics.txt', texts.join('\n'))
})

test.each([
  ['every service', 'routes', {}],
  ['the gateway in the path of REST', 'routes-through-gateway', { isGatewayInPath: true }],
  ['no service', 'routes-without-services', { served: new Set<string>() }],
])('routes with %s', (_, file, options) => {
  const served = new Set<string>(routedServices.map(({ name }) => name))
  expectGolden(
    `test/golden/${file}.txt`,
    formatRoutes(buildRoutingTable({ ...defaultRouting, served, ...options })),
  )
})

test('help', async () => expectGolden('test/golden/help.txt', await formatHelp()))

test('no accepted file remains for a removed part', () => {
  const accepted = readdirSync(path.join(import.meta.dirname, 'openapi')).map((file) => path.basename(file, '.json'))
  expect(accepted.sort()).toEqual(everyRole.map((role) => role.name).sort())
})
